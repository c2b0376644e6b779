/*
 * Which of two ways the slopes by the stem's second convolution are found in:
 * from lists (stem_weights.c), or as products of tiles where they may be of
 * bf16 (stem_direct_weights_amx.c).
 */
#include "backends/cpu/kernels/stem_direct_weights_amx.h"

#ifdef __AMX_BF16__
size_t ISA_NAME(stem_sums)(const struct stem_shape *shape)
{
	return stem_is_direct(shape) ? ISA_NAME(stem_direct_sums)(shape) : 0;
}

size_t ISA_NAME(stem_weight_slopes_scratch)(const struct stem_shape *shape)
{
	return stem_is_direct(shape) ?
		       ISA_NAME(stem_direct_weights_scratch)(shape) :
		       ISA_NAME(stem_lists_scratch)(shape);
}

void ISA_NAME(stem_weight_slopes)(const struct stem_shape *shape,
				  const struct stem_weights *weights,
				  const struct stem_batch *batch,
				  const float *slopes, const uint8_t *winners,
				  float *sums, float *slopes_by_weights,
				  float *slopes_by_bias, float *scratch)
{
	if (stem_is_direct(shape))
		ISA_NAME(stem_direct_weights)(shape, weights, batch, slopes,
					      winners, sums, slopes_by_bias,
					      scratch);
	else
		ISA_NAME(stem_lists_add)(shape, weights, batch, slopes,
					 winners, slopes_by_weights,
					 slopes_by_bias, scratch);
}

void ISA_NAME(stem_weights_finish)(const struct stem_shape *shape,
				   const float *sums, float *slopes_by_weights)
{
	if (stem_is_direct(shape))
		ISA_NAME(stem_direct_weights_finish)(shape, sums,
						     slopes_by_weights);
}
#else
size_t ISA_NAME(stem_sums)(const struct stem_shape *shape)
{
	(void)shape;
	return 0;
}

size_t ISA_NAME(stem_weight_slopes_scratch)(const struct stem_shape *shape)
{
	return ISA_NAME(stem_lists_scratch)(shape);
}

void ISA_NAME(stem_weight_slopes)(const struct stem_shape *shape,
				  const struct stem_weights *weights,
				  const struct stem_batch *batch,
				  const float *slopes, const uint8_t *winners,
				  float *sums, float *slopes_by_weights,
				  float *slopes_by_bias, float *scratch)
{
	(void)sums;
	ISA_NAME(stem_lists_add)(shape, weights, batch, slopes, winners,
				 slopes_by_weights, slopes_by_bias, scratch);
}

void ISA_NAME(stem_weights_finish)(const struct stem_shape *shape,
				   const float *sums, float *slopes_by_weights)
{
	(void)shape;
	(void)sums;
	(void)slopes_by_weights;
}
#endif
