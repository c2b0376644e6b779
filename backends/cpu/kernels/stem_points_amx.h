/*
 * U as AMX's tiles (amx.h), behind U[STEM_POINTS][outputs][middle] in what
 * stem_transform() makes: forms of it, one after the other, all of one size.
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_POINTS_AMX_H
#define BACKENDS_CPU_KERNELS_STEM_POINTS_AMX_H

#include "backends/cpu/kernels/amx.h"
#include "backends/cpu/kernels/stem_kernels.h"

#ifdef __AMX_BF16__

enum stem_form {
	/* A[o][i], forward: [STEM_POINTS][outputs / 16][middle / 32][parts] */
	STEM_FORM_FORWARD,
	STEM_FORMS
};

/* Whether four tiles of rows are full; other shapes are left to vectors. */
INLINE int stem_fills_tiles(const struct stem_shape *shape)
{
	return shape->outputs % 64 == 0 && shape->middle % AMX_DEPTH == 0;
}

/* The parts of each float, a tile each. */
INLINE int stem_parts(const struct stem_shape *shape)
{
	return shape->bf16 ? 1 : AMX_PARTS;
}

/* Tiles of one form, parts included. */
INLINE size_t stem_form_tiles(const struct stem_shape *shape)
{
	return stem_points_plain(shape) / (AMX_ROWS * AMX_DEPTH) *
	       (size_t)stem_parts(shape);
}

/* Where a form begins in floats of points. */
INLINE size_t stem_form_at(const struct stem_shape *shape, int form)
{
	return stem_points_plain(shape) +
	       (size_t)form * stem_form_tiles(shape) * sizeof(amx_tile) /
		       sizeof(float);
}

INLINE const amx_tile *stem_form(const struct stem_shape *shape,
				 const float *points, enum stem_form form)
{
	return (const amx_tile *)(const void *)(points +
						stem_form_at(shape, form));
}

/* Makes all forms, from U. */
void ISA_NAME(stem_points_tile)(const struct stem_shape *shape, float *points);

#endif
#endif
