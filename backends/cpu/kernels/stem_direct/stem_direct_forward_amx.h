/*
 * The stem forward by direct convolutions in bf16, sample by sample, in strips
 * such that a row of pixels is a vector of bf16:
 *
 *   strip: pooled columns first .. first + columns, of all rows
 *
 * Its pooled outputs are numbered row by row, n = row * columns + column, and
 * AMX_COLUMNS of them are a tile's columns. Output (row, column) comes from the
 * 4x4 values of each plane between at (2 row, 2 column). The values at an
 * offset of (t, s) of 16 successive outputs are successive too in
 *
 *   planes[middle / 32][s: 4][y % 2][pair: 16][y / 2 * columns + c][2]
 *       = the value of plane 2 pair or 2 pair + 1 at row y, column 2 c + s
 *
 * at y = 2 row + t: they are there as a row of B.
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_DIRECT_STEM_DIRECT_FORWARD_AMX_H
#define BACKENDS_CPU_KERNELS_STEM_DIRECT_STEM_DIRECT_FORWARD_AMX_H

#include "backends/cpu/kernels/stem_direct/stem_direct_amx.h"

#ifdef __AMX_BF16__

#define STRIP_COLUMNS 14 /* most, pooled */
#define STRIP_SIDE 4	 /* of what an output comes from */
#define STRIP_PAIRS (AMX_DEPTH / 2)

/* Outputs that are multiplied at once: two tiles of A. */
#define STEM_BLOCK (2 * AMX_ROWS)

/* Tiles of A of a block of outputs. */
INLINE size_t stem_direct_block_tiles(const struct stem_shape *shape)
{
	return (size_t)(stem_direct_deep(shape) / AMX_DEPTH * STEM_TAPS * 2);
}

struct stem_strip {
	const struct stem_shape *shape;
	int sample;
	int first, columns, rows; /* pooled */
	int pitch;		  /* of a pair of planes, in pairs */
	const float *image;	  /* of the sample, at the strip's corner */
	uint8_t *signs;		  /* of the sample; or NULL */
	uint32_t *planes;
};

/* Pairs of a plane: whole tiles that may begin a row further on. */
INLINE int strip_pitch(int columns, int rows)
{
	const int all = columns * rows + AMX_COLUMNS - 1;

	return (all / AMX_COLUMNS * AMX_COLUMNS + columns + AMX_COLUMNS - 1) /
	       AMX_COLUMNS * AMX_COLUMNS;
}

/*
 * A strip's planes between, and its signs; pixels[channels][height][4][16] is
 * scratch.
 */
void ISA_NAME(stem_direct_input)(const struct stem_strip *strip,
				 const struct stem_weights *weights,
				 float *pixels);

/* Floats of A's tiles, in whole lines; makes them of stem_transform()'s. */
size_t ISA_NAME(stem_direct_tiled)(const struct stem_shape *shape);
void ISA_NAME(stem_direct_tile)(const struct stem_shape *shape,
				const float *weights, float *points);

size_t ISA_NAME(stem_direct_forward_scratch)(const struct stem_shape *shape);
void ISA_NAME(stem_direct_forward)(const struct stem_shape *shape,
				   const struct stem_weights *weights,
				   const struct stem_batch *batch, float *out,
				   uint8_t *winners, uint8_t *signs,
				   float *scratch);

#endif
#endif
