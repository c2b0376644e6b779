/* The stem's kernels of one instruction set, as a table. */
#include "backends/cpu/kernels/stem/stem.h"

#include "backends/cpu/kernels/stem/stem_kernels.h"

static size_t scratch(const struct stem_shape *shape)
{
	const size_t sizes[] = {
		ISA_NAME(stem_forward_scratch)(shape),
		ISA_NAME(stem_drop_scratch)(shape),
		ISA_NAME(stem_backward_scratch)(shape),
		ISA_NAME(stem_weight_gradient_scratch)(shape),
	};
	size_t most = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i] > most)
			most = sizes[i];
	return most;
}

static size_t points(const struct stem_shape *shape)
{
	return ISA_NAME(stem_points_direct)(shape) +
	       ISA_NAME(stem_direct_data_weights)(shape);
}

/* The weight gradient has sums where it is products of tiles. */
static int weight_gradient_is_dense(const struct stem_shape *shape)
{
	return ISA_NAME(stem_sums)(shape) > 0;
}

const struct stem_kernels ISA_NAME(stem_kernels) = {
	.lanes = LANES,
	.place = ISA_NAME(stem_place),
	.scratch = scratch,
	.points = points,
	.weight_gradient_is_dense = weight_gradient_is_dense,
	.signs = ISA_NAME(stem_signs),
	.transform = ISA_NAME(stem_transform),
	.unpack = ISA_NAME(stem_unpack),
	.forward = ISA_NAME(stem_forward),
	.drop = ISA_NAME(stem_drop),
	.stop = ISA_NAME(stem_stop),
	.backward = ISA_NAME(stem_backward),
	.sums = ISA_NAME(stem_sums),
	.weight_gradient = ISA_NAME(stem_weight_gradient),
	.weights_finish = ISA_NAME(stem_weights_finish),
};
