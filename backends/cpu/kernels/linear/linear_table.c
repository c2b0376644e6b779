/* The kernels of a linear layer of one instruction set, as one table. */
#include "backends/cpu/kernels/linear/linear.h"

#include "backends/cpu/kernels/linear/linear_kernels.h"

#include "backends/cpu/kernels/elementwise/optimizer.h"

/* optimizer is a constant. */
INLINE void step_all(const struct rates *rates, enum optimizer optimizer,
		     size_t count, float *p, float *first, float *second,
		     const float *gradient)
{
	for (size_t i = 0; i < count; i += LANES) {
		const int rest = count - i < LANES ? (int)(count - i) : 0;

		step_vector(rates, optimizer, tile_load(gradient + i, rest),
			    p, first, second, i, rest);
	}
}

/* Ceiling: memory bandwidth, 4 streams in and 3 out with Adadelta and Adam. */
void ISA_NAME(optimize)(const struct update *update, size_t count, float *p,
			float *first, float *second, const float *gradient)
{
	const struct rates rates = rates_of(update);

	switch (update->optimizer) {
	case OPTIMIZER_ADAM:
		step_all(&rates, OPTIMIZER_ADAM, count, p, first, second,
			 gradient);
		break;
	case OPTIMIZER_SGD:
		step_all(&rates, OPTIMIZER_SGD, count, p, first, second,
			 gradient);
		break;
	default:
		step_all(&rates, OPTIMIZER_ADADELTA, count, p, first, second,
			 gradient);
	}
}

static size_t linear_scratch(const struct linear_shape *shape, int count)
{
	const size_t forward =
		TILED_SCRATCH(linear_forward)(shape, count);
	const size_t backward =
		VEC_NAME(linear_backward_scratch)(shape, count);

	return forward > backward ? forward : backward;
}

const struct linear_kernels ISA_NAME(linear_kernels) = {
	.name = ISA_TEXT(ISA),
	.scratch = linear_scratch,
	.forward_is_dense = ISA_NAME(linear_forward_is_dense),
	.forward = TILED(linear_forward),
	.backward = VEC_NAME(linear_backward),
	.backward_update = VEC_NAME(linear_backward_update),
	.part_size = VEC_NAME(linear_part_size),
	.update_scratch = VEC_NAME(linear_parts_scratch),
	.backward_part = VEC_NAME(linear_backward_part),
	.update_parts = VEC_NAME(linear_update_parts),
	.optimize = ISA_NAME(optimize),
};
