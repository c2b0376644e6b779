/*
 * The planes between the stem's convolutions, channels-last:
 *   planes[row][column][middle] = ReLU(first convolution)
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_STEM_PLANES_H
#define BACKENDS_CPU_KERNELS_STEM_STEM_PLANES_H

#include "backends/cpu/kernels/simd/simd.h"
#include "backends/cpu/kernels/stem/stem.h"

/* The planes between, in whole vectors. */
INLINE int stem_planes_padded(const struct stem_shape *shape)
{
	return (shape->middle + LANES - 1) / LANES * LANES;
}

/* Floats of the first convolution's parameters with the planes in the lanes */
INLINE int stem_planes_transposed(const struct stem_shape *shape)
{
	return (1 + shape->channels * STEM_TAPS) * stem_planes_padded(shape);
}

/* transposed[1 + channels * STEM_TAPS][padded]: first the bias */
void VEC_NAME(stem_planes_transpose)(const struct stem_shape *shape,
				     const struct stem_weights *weights,
				     float *transposed);

/* Rows first .. first + rows - 1 of the planes of an image. */
void VEC_NAME(stem_planes)(const struct stem_shape *shape,
			   const float *transposed, const float *image,
			   int first, int rows, float *planes);

#endif
