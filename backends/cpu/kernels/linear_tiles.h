/*
 * What the passes of a linear layer on AMX's tiles share. See amx.h.
 *
 * A block's inputs are those of the samples that keep it, gathered, so that a
 * quarter that is dropped is not multiplied. What of the outputs is dropped is
 * multiplied with the others: tiles have no holes.
 *
 * Tiles multiply while vectors are at work. What there is to do for vectors is
 * cut into units of 20 to 200 instructions, one or a few of which follow each
 * few products: operands of the next block are made while this one's are
 * multiplied, and what has been multiplied is put where it belongs.
 */
#ifndef BACKENDS_CPU_KERNELS_LINEAR_TILES_H
#define BACKENDS_CPU_KERNELS_LINEAR_TILES_H

#include "backends/cpu/kernels/amx.h"
#include "backends/cpu/kernels/linear_kernels.h"

#ifdef __AMX_BF16__

#define PAIR (2 * AMX_ROWS) /* rows of two tiles */
#define MOST_CHUNKS 64	    /* of 32 samples */

/*
 * Whether a layer fills tiles, and a batch has as many samples as it takes for
 * its products to be worth the preparation of weights.
 */
INLINE int tiles_fit(const struct linear_shape *shape, int count, int least)
{
	return shape->block % AMX_COLUMNS == 0 && shape->outputs % PAIR == 0 &&
	       count >= least && count <= MOST_CHUNKS * PAIR;
}

INLINE int tiles_parts(const struct linear_shape *shape)
{
	return shape->bf16 ? 1 : AMX_PARTS;
}

/* Rows of whole pairs of tiles. */
INLINE int tiles_pad(int rows)
{
	return (rows + PAIR - 1) / PAIR * PAIR;
}

/* count floats, into the second level of the cache. */
INLINE void tiles_fetch(const float *from, int count)
{
	for (int i = 0; i < count; i += AMX_ROW / (int)sizeof(*from))
		__builtin_prefetch(from + i, 0, 2);
}

/* Four places of 16 rows: columns[place][row]. */
INLINE void transpose_four(const float *rows, size_t stride, vec columns[4])
{
	__m512 four[4], low[2], high[2];

	UNROLL
	for (int r = 0; r < 4; r++) {
		const float *row = rows + (size_t)r * stride;

		four[r] = _mm512_broadcast_f32x4(_mm_loadu_ps(row));
		UNROLL
		for (int lane = 1; lane < 4; lane++)
			four[r] = _mm512_mask_broadcast_f32x4(
				four[r], (__mmask16)(15 << 4 * lane),
				_mm_loadu_ps(row + (size_t)(4 * lane) *
							   stride));
	}
	UNROLL
	for (int i = 0; i < 2; i++) {
		low[i] = _mm512_unpacklo_ps(four[2 * i], four[2 * i + 1]);
		high[i] = _mm512_unpackhi_ps(four[2 * i], four[2 * i + 1]);
	}
	columns[0] = (vec)_mm512_unpacklo_pd((__m512d)low[0], (__m512d)low[1]);
	columns[1] = (vec)_mm512_unpackhi_pd((__m512d)low[0], (__m512d)low[1]);
	columns[2] =
		(vec)_mm512_unpacklo_pd((__m512d)high[0], (__m512d)high[1]);
	columns[3] =
		(vec)_mm512_unpackhi_pd((__m512d)high[0], (__m512d)high[1]);
}

/* All bits of the lanes of 16 outputs that are kept. */
INLINE lanes_int tiles_kept(const uint8_t *keep)
{
	return (lanes_int)_mm512_cvtepi8_epi32(
		       _mm_loadu_si128((const __m128i *)keep)) != 0;
}

/* The samples that keep a block, in their order; returns how many. */
INLINE int tiles_gather(const struct linear_shape *shape,
			const struct linear_batch *batch, int block,
			int32_t *kept)
{
	int count = 0;

	for (int b = 0; b < batch->count; b++) {
		kept[count] = b;
		count += !batch->keep_in ||
			 batch->keep_in[b * shape->blocks + block];
	}
	return count;
}

#endif
#endif
