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
	int parts, depth;
	/* groups of products, between which a block's other work is done */
	int groups;
	float *sums;	       /* [count][outputs] */
	amx_tile *a[2], *b[2]; /* of even and odd blocks */
	struct block_side sides[SIDES];
};

/* Returns 1 if the layer fills tiles and the batch is large enough, from least
 * on, to be worth packing the weights. */
INLINE int tiles_fit(const struct linear_shape *shape, int count, int least)
{
	return shape->block % AMX_COLUMNS == 0 && shape->outputs % PAIR == 0 &&
	       count >= least && count <= MOST_CHUNKS * PAIR;
}

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

static const uint8_t half_parts[2][AMX_PARTS][2] = {
	{ { 2, 1 }, { 0, 1 }, { 0, 0 } }, /* of A: left, right */
	{ { 0, 1 }, { 2, 0 }, { 1, 0 } }, /* of B: above, below */
};

/* Stores 16 floats as a row of a half-filled tile of A. */
INLINE void store_half_row(amx_tile *tile, int row, vec value, int parts)
{
	const vec zero = vec_set(0);
	lanes_int split[AMX_PARTS];

	if (parts < AMX_PARTS) {
		amx_store_row(tile, row, value, zero, parts);
		return;
	}
	amx_split(value, parts, split);
	UNROLL
	for (int p = 0; p < AMX_PARTS; p++) {
		const uint8_t *half = half_parts[0][p];
		const __m256i left = _mm512_cvtepi32_epi16(
			_mm512_srli_epi32((__m512i)split[half[0]], 16));
		const __m256i right = _mm512_cvtepi32_epi16(
			_mm512_srli_epi32((__m512i)split[half[1]], 16));

		_mm256_store_si256((__m256i *)(tile[p] + row * AMX_DEPTH),
				   left);
		_mm256_store_si256((__m256i *)(tile[p] + row * AMX_DEPTH +
					       AMX_DEPTH / 2),
				   right);
	}
}

/* Stores two rows of floats as rows of a half-filled tile of B. */
INLINE void store_half_pair(amx_tile *tile, int row, vec even, vec odd,
			    int parts)
{
	lanes_int low[AMX_PARTS], high[AMX_PARTS];
	__m512i pairs[AMX_PARTS];

	amx_split(even, parts, low);
	amx_split(odd, parts, high);
	UNROLL
	for (int p = 0; p < parts; p++)
		pairs[p] = _mm512_mask_blend_epi16(
			0xaaaaaaaa, _mm512_srli_epi32((__m512i)low[p], 16),
			(__m512i)high[p]);
	UNROLL
	for (int p = 0; p < parts; p++) {
		uint16_t *to = tile[p] + row * AMX_DEPTH;
		const uint8_t *half = half_parts[1][p];

		if (parts < AMX_PARTS) {
			_mm512_store_si512(to, pairs[0]);
			_mm512_store_si512(to + sizeof(*tile) / 4,
					   _mm512_setzero_si512());
			return;
		}
		_mm512_store_si512(to, pairs[half[0]]);
		_mm512_store_si512(to + sizeof(*tile) / 4, pairs[half[1]]);
	}
}

/* Packs 32 places, or the remaining 16, of kept sample number i. */
INLINE void pack_sample(const struct tiles_pass *pass,
			const struct block_side *side, int i, int d, int parts,
			int half)
{
	const struct linear_batch *batch = pass->batch;
	const float *x = batch->in + (size_t)side->kept[i] * batch->sample +
			 (size_t)side->block * batch->block + d * AMX_DEPTH;
	amx_tile *tile =
		side->a + (i / AMX_ROWS * pass->depth + d) * parts;

	/* Prefetches the next block's, kept or not. */
	tiles_fetch(x + side->fetch_in, half ? AMX_DEPTH / 2 : AMX_DEPTH);
	if (half)
		store_half_row(tile, i % AMX_ROWS, vec_load(x), parts);
	else
		amx_store_row(tile, i % AMX_ROWS, vec_load(x),
			      vec_load(x + LANES), parts);
}

/* Packs PLACES places of 16 outputs at the cursor and moves it on. */
INLINE void pack_outputs(const struct tiles_pass *pass,
			 const struct block_side *side,
			 struct weights_cursor *cursor, int parts)
{
	const struct linear_shape *shape = pass->shape;
	const int d = cursor->at / AMX_DEPTH;
	const int row = cursor->at % AMX_DEPTH / 2;
	const float *rows = pass->weights +
			    linear_weight_at(shape, cursor->n * AMX_COLUMNS,
					     side->block, 0);
	amx_tile *tile = side->b + (cursor->n * pass->depth + d) * parts;
	vec columns[PLACES];

	tiles_fetch(rows + side->fetch_weights + cursor->at * AMX_COLUMNS,
		    PLACES * AMX_COLUMNS);
	transpose_four(rows + cursor->at, (size_t)shape->block, columns);
	UNROLL
	for (int c = 0; c < PLACES; c += 2) {
		if ((d + 1) * AMX_DEPTH > shape->block)
			store_half_pair(tile, row + c / 2, columns[c],
					columns[c + 1], parts);
		else
			amx_store_pair(tile, row + c / 2, columns[c],
				       columns[c + 1], parts);
	}
	cursor->at += PLACES;
	if (cursor->at == shape->block) {
		cursor->at = 0;
		cursor->n++;
	}
}

#endif
#endif
