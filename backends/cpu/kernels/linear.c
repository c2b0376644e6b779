/* The kernels of a linear layer of one instruction set, as one table. */
#include "backends/cpu/kernels/linear.h"

#include "backends/cpu/kernels/linear_kernels.h"

#include "backends/cpu/kernels/adadelta.h"

/*
 * p, v, u [count] from g[count]: memory is what it waits for, 4 streams in and
 * 3 out at 50 GB/s, where each vector alone would take 4.4 ns.
 */
void ISA_NAME(adadelta)(const struct update *update, size_t count,
			float *parameters, float *square_avg,
			float *acc_delta, const float *gradient)
{
	const struct adadelta rates = adadelta_of(update);

	for (size_t i = 0; i < count; i += LANES) {
		const int rest = count - i < LANES ? (int)(count - i) : 0;
		vec v = tile_load(square_avg + i, rest);
		vec u = tile_load(acc_delta + i, rest);
		const vec g = tile_load(gradient + i, rest);
		const vec p = tile_load(parameters + i, rest);
		const vec delta = adadelta_step(&rates, g, &v, &u);

		tile_store(square_avg + i, v, rest);
		tile_store(acc_delta + i, u, rest);
		tile_store(parameters + i, p - delta, rest);
	}
}

static size_t linear_scratch(const struct linear_shape *shape, int count)
{
	const size_t forward =
		TILED_SCRATCH(linear_forward)(shape, count);
	const size_t backward =
		ISA_NAME(linear_backward_scratch)(shape, count);

	return forward > backward ? forward : backward;
}

const struct linear_kernels ISA_NAME(linear_kernels) = {
	.name = ISA_TEXT(ISA),
	.scratch = linear_scratch,
	.forward_is_dense = ISA_NAME(linear_forward_is_dense),
	.forward = TILED(linear_forward),
	.backward = ISA_NAME(linear_backward),
	.backward_update = ISA_NAME(linear_backward_update),
	.part_size = ISA_NAME(linear_part_size),
	.update_scratch = ISA_NAME(linear_parts_scratch),
	.backward_part = ISA_NAME(linear_backward_part),
	.update_parts = ISA_NAME(linear_update_parts),
	.adadelta = ISA_NAME(adadelta),
};
