/*
 * Operands of a linear layer's forward pass on AMX's tiles: see
 * linear_forward_amx.c and amx.h.
 *
 * Only inputs of samples that keep a block are gathered, so that dropped ones
 * are not multiplied. Dropped outputs are multiplied with the others: tiles
 * have no holes.
 *
 * Vector units work while tiles multiply. Their work is cut into units of 20 to
 * 200 instructions, and one or a few units follow every few products. They pack
 * operands of the next block and add products of the last one to the sums.
 */
#ifndef BACKENDS_CPU_KERNELS_LINEAR_LINEAR_FORWARD_TILES_H
#define BACKENDS_CPU_KERNELS_LINEAR_LINEAR_FORWARD_TILES_H

#include "backends/cpu/kernels/simd/amx.h"
#include "backends/cpu/kernels/linear/linear_kernels.h"

#ifdef __AMX_BF16__

#define PAIR (2 * AMX_ROWS) /* rows of two tiles */
#define MOST_CHUNKS 64	    /* of 32 samples */
#define PLACES 4	    /* whose weights are transposed together */
#define SIDES 3

typedef uint32_t lane_bits __attribute__((vector_size(AMX_ROW), may_alias));

/* The next weights to transpose: tile n of outputs, from place at on. */
struct weights_cursor {
	int n, at;
};

/* State of a block: the next, the multiplied, or the last one. */
struct block_side {
	int block;
	int kept_count;	 /* samples: rows of A and of products */
	int tiles;	 /* of outputs, in B */
	int32_t *kept;	 /* [count + 1]: kept samples */
	float *products; /* [samples][outputs] */
	amx_tile *a, *b;
	size_t fetch_in, fetch_weights; /* offsets of the following block's */
};

struct tiles_pass {
	const struct linear_shape *shape;
	const struct linear_batch *batch;
	const float *weights;
	int depth; /* tiles of a block's places */
	/* groups of products, between which a block's other work is done */
	int groups;
	float *sums;	       /* [count][outputs] */
	amx_tile *a[2], *b[2]; /* of even and odd blocks */
	struct block_side sides[SIDES];
};

/* Returns rows rounded up to whole pairs of tiles. */
INLINE int tiles_pad(int rows)
{
	return (rows + PAIR - 1) / PAIR * PAIR;
}

/* Prefetches count floats into the second level of the cache. */
INLINE void tiles_fetch(const float *from, int count)
{
	for (int i = 0; i < count; i += AMX_ROW / (int)sizeof(*from))
		__builtin_prefetch(from + i, 0, 2);
}

/* Transposes four places of 16 rows to columns[place][row]. */
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

/* Returns all bits set in the lanes of kept outputs, of 16. */
INLINE lanes_int tiles_kept(const uint8_t *keep)
{
	return (lanes_int)_mm512_cvtepi8_epi32(
		       _mm_loadu_si128((const __m128i *)keep)) != 0;
}

/* Lists the samples that keep a block, in order; returns their number. */
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

/* Rounds value to bf16, to the nearest, ties away from zero, in the upper half
 * of each lane. The lower halves are undefined. A quiet NaN remains one. */
INLINE __m512i round_upper(vec value)
{
	const vec rounded = (vec)((lane_bits)value + 0x8000);

	/* Rounding may turn a NaN into 0. */
	return (__m512i)vec_choose(mask_differ(value, value), value, rounded);
}

/* Stores 32 floats as a row of a tile of A, 16 in first and the next 16 in
 * second. */
INLINE void store_row(amx_tile *tile, int row, vec first, vec second)
{
	static const uint16_t odd[AMX_DEPTH] = {
		1,  3,	5,  7,	9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
		33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63,
	};

	_mm512_store_si512(*tile + row * AMX_DEPTH,
			   _mm512_permutex2var_epi16(round_upper(first),
						     _mm512_loadu_si512(odd),
						     round_upper(second)));
}

/* Stores rows k and k + 1 of B as a row of a tile. */
INLINE void store_pair(amx_tile *tile, int row, vec even, vec odd)
{
	_mm512_store_si512(*tile + row * AMX_DEPTH,
			   _mm512_mask_blend_epi16(
				   0xaaaaaaaa,
				   _mm512_srli_epi32(round_upper(even), 16),
				   round_upper(odd)));
}

/* Returns 1 if a block's places fill only one half of tile d. */
INLINE int is_half(const struct linear_shape *shape, int d)
{
	return (d + 1) * AMX_DEPTH > shape->block;
}

/* Packs 32 places, or the remaining 16 and zeros, of kept sample number i. */
INLINE void pack_sample(const struct tiles_pass *pass,
			const struct block_side *side, int i, int d)
{
	const struct linear_batch *batch = pass->batch;
	const float *x = batch->in + (size_t)side->kept[i] * batch->sample +
			 (size_t)side->block * batch->block + d * AMX_DEPTH;
	amx_tile *tile = side->a + i / AMX_ROWS * pass->depth + d;
	const int half = is_half(pass->shape, d);

	/* Prefetches the next block's, kept or not. */
	tiles_fetch(x + side->fetch_in, half ? AMX_DEPTH / 2 : AMX_DEPTH);
	store_row(tile, i % AMX_ROWS, vec_load(x),
		  half ? vec_set(0) : vec_load(x + LANES));
}

/* Packs PLACES places of 16 outputs at the cursor and moves it on. In a half
 * tile, zeros follow. */
INLINE void pack_outputs(const struct tiles_pass *pass,
			 const struct block_side *side,
			 struct weights_cursor *cursor)
{
	const struct linear_shape *shape = pass->shape;
	const int d = cursor->at / AMX_DEPTH;
	const int row = cursor->at % AMX_DEPTH / 2;
	const float *rows = pass->weights +
			    linear_weight_at(shape, cursor->n * AMX_COLUMNS,
					     side->block, 0);
	amx_tile *tile = side->b + cursor->n * pass->depth + d;
	vec columns[PLACES];

	tiles_fetch(rows + side->fetch_weights + cursor->at * AMX_COLUMNS,
		    PLACES * AMX_COLUMNS);
	transpose_four(rows + cursor->at, (size_t)shape->block, columns);
	UNROLL
	for (int c = 0; c < PLACES; c += 2) {
		store_pair(tile, row + c / 2, columns[c], columns[c + 1]);
		if (is_half(shape, d))
			store_pair(tile, row + c / 2 + AMX_ROWS / 2,
				   vec_set(0), vec_set(0));
	}
	cursor->at += PLACES;
	if (cursor->at == shape->block) {
		cursor->at = 0;
		cursor->n++;
	}
}

#endif
#endif
