/*
 * U as AMX's tiles (amx.h), behind U[STEM_POINTS][outputs][middle] in what
 * stem_transform() makes: A[o][i] of the forward products,
 * [STEM_POINTS][outputs / 16][middle / 32][parts].
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_POINTS_AMX_H
#define BACKENDS_CPU_KERNELS_STEM_POINTS_AMX_H

#include "backends/cpu/kernels/amx.h"
#include "backends/cpu/kernels/stem_kernels.h"

#ifdef __AMX_BF16__

/* Whether four tiles of rows are full; other shapes are left to vectors. */
INLINE int stem_forward_fits_tiles(const struct stem_shape *shape)
{
	return shape->outputs % 64 == 0 && shape->middle % AMX_DEPTH == 0;
}

/* How many tiles that is, one for each part of the floats. */
INLINE size_t stem_points_tile_count(const struct stem_shape *shape)
{
	return stem_points_plain(shape) / (AMX_ROWS * AMX_DEPTH) *
	       AMX_PARTS;
}

INLINE const amx_tile *stem_points_tiles(const struct stem_shape *shape,
					 const float *points)
{
	return (const amx_tile *)(const void *)(points +
						stem_points_plain(shape));
}

/* Makes them, from U. */
void ISA_NAME(stem_points_tile)(const struct stem_shape *shape, float *points);

#endif
#endif
