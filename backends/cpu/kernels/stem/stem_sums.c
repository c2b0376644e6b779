/*
 * Which of two ways the weight gradient of the stem's second convolution is
 * computed in: from lists (stem_weights.c), or as products of tiles where they
 * may be of bf16 (stem_direct_weights_amx.c).
 */
#include "backends/cpu/kernels/stem_direct/stem_direct_pairs_amx.h"

#ifdef __AMX_BF16__
size_t ISA_NAME(stem_sums)(const struct stem_shape *shape)
{
	return stem_is_direct(shape) ? ISA_NAME(stem_direct_sums)(shape) : 0;
}

size_t ISA_NAME(stem_weight_gradient_scratch)(const struct stem_shape *shape)
{
	return stem_is_direct(shape) ?
		       ISA_NAME(stem_direct_weights_scratch)(shape) :
		       VEC_NAME(stem_lists_scratch)(shape);
}

void ISA_NAME(stem_weight_gradient)(const struct stem_shape *shape,
				    const struct stem_weights *weights,
				    const struct stem_batch *batch,
				    const float *dy, const uint8_t *winners,
				    float *sums, float *dw,
				    float *dbias, float *scratch)
{
	if (stem_is_direct(shape))
		ISA_NAME(stem_direct_weights)(shape, weights, batch, dy,
					      winners, sums, dbias,
					      scratch);
	else
		VEC_NAME(stem_lists_add)(shape, weights, batch, dy,
					 winners, dw,
					 dbias, scratch);
}

void ISA_NAME(stem_weights_finish)(const struct stem_shape *shape,
				   const float *sums, float *dw)
{
	if (stem_is_direct(shape))
		ISA_NAME(stem_direct_weights_finish)(shape, sums,
						     dw);
}
#else
size_t ISA_NAME(stem_sums)(const struct stem_shape *shape)
{
	(void)shape;
	return 0;
}

size_t ISA_NAME(stem_weight_gradient_scratch)(const struct stem_shape *shape)
{
	return VEC_NAME(stem_lists_scratch)(shape);
}

void ISA_NAME(stem_weight_gradient)(const struct stem_shape *shape,
				    const struct stem_weights *weights,
				    const struct stem_batch *batch,
				    const float *dy, const uint8_t *winners,
				    float *sums, float *dw,
				    float *dbias, float *scratch)
{
	(void)sums;
	VEC_NAME(stem_lists_add)(shape, weights, batch, dy, winners,
				 dw, dbias, scratch);
}

void ISA_NAME(stem_weights_finish)(const struct stem_shape *shape,
				   const float *sums, float *dw)
{
	(void)shape;
	(void)sums;
	(void)dw;
}
#endif
