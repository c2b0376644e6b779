/*
 * The weight gradient of the stem's second convolution on AMX's tiles, by the
 * definition, for a call's samples:
 *
 *   dw[o][r][s][i] += sum over n, y, x of dz[n][o][y][x] a[n][i][y + r][x + s]
 *
 * A position is a column x of a sample n. The positions of a row y are one
 * after the other, followed by zeros in dz, to whole tiles of 32. Operands are
 * blocks of 16 outputs and of 16 planes between:
 *
 *   A: uint16_t dz[block][y][16][positions]
 *   B: uint16_t a[block][s][y + r][positions / 2][16][2]
 *
 * so that the tiles of all three r of a row of a are tiles of neighbouring rows
 * of dz. The taps s need a three times, with the pairs of columns x and x + s.
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_DIRECT_STEM_DIRECT_PAIRS_AMX_H
#define BACKENDS_CPU_KERNELS_STEM_DIRECT_STEM_DIRECT_PAIRS_AMX_H

#include "backends/cpu/kernels/stem_direct/stem_direct_amx.h"

#ifdef __AMX_BF16__

#define STEM_SIDE 3 /* of a window */

/* Sizes of a call. */
struct stem_pairs {
	int width;	/* columns of dz in a row of a sample */
	int height;	/* rows of dz */
	int tiles;	/* of 32 positions, in a row */
	int outputs;	/* blocks of 16 */
	int middle;	/* blocks of 16 */
	size_t dz_row;	/* bytes of a row of a block of dz, */
	size_t planes;	/* and of a; */
	size_t tap;	/* bytes of all rows of a, and a line more */
};

INLINE struct stem_pairs stem_pairs_of(const struct stem_shape *shape,
				       int count)
{
	struct stem_pairs pairs = {
		.width = shape->width - 4,
		.height = shape->height - 4,
		.outputs = (shape->outputs + AMX_ROWS - 1) / AMX_ROWS,
		.middle = (shape->middle + AMX_COLUMNS - 1) / AMX_COLUMNS,
	};

	pairs.tiles = (count * pairs.width + AMX_DEPTH - 1) / AMX_DEPTH;
	pairs.dz_row = (size_t)pairs.tiles * sizeof(amx_tile);
	pairs.planes = pairs.dz_row;
	pairs.tap = (size_t)(pairs.height + 2) * pairs.planes + AMX_ROW;
	return pairs;
}

/* Floats of a block of the first convolution's parameters, each twice. */
#define STEM_PAIRS_TAP (2 * LANES)

INLINE size_t stem_pairs_transposed(const struct stem_shape *shape)
{
	return (size_t)(1 + shape->channels * STEM_TAPS) * STEM_PAIRS_TAP;
}

/* a of all samples of a call; transposed is scratch, of
 * stem_pairs_transposed(). */
void ISA_NAME(stem_pairs_fill)(const struct stem_shape *shape,
			       const struct stem_weights *weights,
			       const struct stem_batch *batch,
			       float *transposed, uint8_t *planes);

/* The slots of backends/cpu/kernels/stem/stem.h. */
size_t ISA_NAME(stem_direct_sums)(const struct stem_shape *shape);
size_t ISA_NAME(stem_direct_weights_scratch)(const struct stem_shape *shape);
void ISA_NAME(stem_direct_weights)(const struct stem_shape *shape,
				   const struct stem_weights *weights,
				   const struct stem_batch *batch,
				   const float *dy, const uint8_t *winners,
				   float *sums, float *dbias,
				   float *scratch);
void ISA_NAME(stem_direct_weights_finish)(const struct stem_shape *shape,
					  const float *sums,
					  float *dw);

#endif
#endif
