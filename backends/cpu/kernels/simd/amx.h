/*
 * Matrix products of floats on the tiles of AMX, which multiply bf16 and add
 * fp32:
 *
 *   C[m][n] = sum over k of A[m][k] B[k][n]
 *
 * A float's 24 bits are the sum of three bf16, exactly: a = a0 + a1 + a2. Six
 * of the nine products of parts are computed; the other three are below 2^-24
 * of a b, less than fp32's rounding:
 *
 *   a b = a2 b0 + a1 b1 + a0 b2 + a1 b0 + a0 b1 + a0 b0
 *
 * The method is known as bf16x3 (Henry, Tang and Heinecke 2019, arXiv
 * 1904.06376). With one part, the operands are rounded to bf16, and there is
 * one product.
 *
 * A tile has 16 rows of 64 bytes:
 *
 *   A: [m: 16][k: 32]    B: [k / 2: 16][n: 16][k % 2]    C: [m: 16][n: 16]
 *
 * so that a row of B interleaves two rows of floats, k and k + 1. The tiles of
 * a float's parts follow each other.
 *
 * Ceiling: a Xeon does 2.5 TFLOP/s in bf16 (3.1 with zeros or ones). Six
 * products leave 420 GFLOP/s, twice its FMA peak. Tiles load meanwhile, but
 * FMAs then run at half their rate.
 */
#ifndef BACKENDS_CPU_KERNELS_SIMD_AMX_H
#define BACKENDS_CPU_KERNELS_SIMD_AMX_H

#include "backends/cpu/kernels/simd/simd_masks.h"

#ifdef __AMX_BF16__

#define AMX_ROWS 16	/* rows of a tile of A or C */
#define AMX_COLUMNS 16	/* columns of a tile of B or C */
#define AMX_DEPTH 32	/* k of a tile of A or B */
#define AMX_ROW 64	/* bytes of a row */
#define AMX_PARTS 3	/* bf16 per float */

typedef uint32_t amx_bits __attribute__((vector_size(AMX_ROW), may_alias));

/* One part of a tile of A or B. */
typedef uint16_t amx_tile[AMX_ROWS * AMX_DEPTH];

/* Returns the number of parts per float: 1 in bf16, AMX_PARTS in fp32. */
INLINE int amx_parts(int bf16)
{
	return bf16 ? 1 : AMX_PARTS;
}

/* Orders memory accesses around tile loads: to GCC, tiles and their
 * configuration are not loaded from memory (bug 114098, for the latter). */
INLINE void amx_hold_memory(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Configures all eight tiles with all rows. amx_end() releases them, so that
 * the system need not save them. */
INLINE void amx_begin(void)
{
	struct {
		uint8_t palette, start, reserved[14];
		uint16_t row_bytes[16];
		uint8_t rows[16];
	} config = { .palette = 1 };

	for (int i = 0; i < 8; i++) {
		config.row_bytes[i] = AMX_ROW;
		config.rows[i] = AMX_ROWS;
	}
	__asm__ volatile("" : : "r"(&config) : "memory");
	_tile_loadconfig(&config);
}

INLINE void amx_end(void)
{
	_tile_release();
}

/*
 * Splits value into parts bf16 numbers, each in the upper half of its lane; the
 * lower halves are undefined. The first part is rounded. A NaN remains one in
 * some part. With several parts, a value that rounds to infinity becomes a NaN.
 */
INLINE void amx_split(vec value, int parts, lanes_int split[AMX_PARTS])
{
	const lanes_int upper = (lanes_int){ 0 } + (int32_t)0xffff0000;
	const vec rounded = (vec)((amx_bits)value + 0x8000);

	/* Rounding may turn a NaN into 0; then the next part is a NaN. */
	split[0] = (lanes_int)rounded;
	if (parts == 1)
		split[0] = (lanes_int)vec_choose(mask_differ(value, value),
						 value, rounded);
	UNROLL for (int p = 1; p < parts; p++) {
		value -= (vec)(split[p - 1] & upper);
		split[p] = (lanes_int)value;
	}
}

/* Rounds 32 floats to bf16, to the nearest, ties to even; a NaN remains one. */
INLINE __m512i amx_round(vec first, vec second)
{
	return (__m512i)_mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
}

/* Rounds rows k and k + 1 of B to bf16 and interleaves them by column: a row of
 * a tile of B. */
INLINE __m512i amx_round_pair(vec even, vec odd)
{
	static const uint16_t order[AMX_DEPTH] = {
		0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
		8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31,
	};

	return _mm512_permutexvar_epi16(_mm512_loadu_si512(order),
					amx_round(even, odd));
}

/* Splits rows k and k + 1 of B: rows[p] becomes a row of part p's tile. */
INLINE void amx_make_pair(vec even, vec odd, int parts,
			  lanes_int rows[AMX_PARTS])
{
	lanes_int low[AMX_PARTS], high[AMX_PARTS];

	amx_split(even, parts, low);
	amx_split(odd, parts, high);
	UNROLL for (int p = 0; p < parts; p++)
		rows[p] = (lanes_int)_mm512_mask_blend_epi16(
			0xaaaaaaaa, _mm512_srli_epi32((__m512i)low[p], 16),
			(__m512i)high[p]);
}

/* Stores amx_make_pair()'s rows as row number row of each part's tile. */
INLINE void amx_store_pair(amx_tile *tile, int row, vec even, vec odd,
			   int parts)
{
	lanes_int rows[AMX_PARTS];

	amx_make_pair(even, odd, parts, rows);
	UNROLL for (int p = 0; p < parts; p++)
		_mm512_store_si512(tile[p] + row * AMX_DEPTH,
				   (__m512i)rows[p]);
}

/* Splits 32 floats of a row m, 16 in first and the next 16 in second. Stores
 * them in each part's tile of A, as row number row. */
INLINE void amx_store_row(amx_tile *tile, int row, vec first, vec second,
			  int parts)
{
	static const uint16_t odd[32] = {
		1,  3,	5,  7,	9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
		33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63,
	};
	lanes_int low[AMX_PARTS], high[AMX_PARTS];

	amx_split(first, parts, low);
	amx_split(second, parts, high);
	UNROLL for (int p = 0; p < parts; p++)
		_mm512_store_si512(tile[p] + row * AMX_DEPTH,
				   _mm512_permutex2var_epi16(
					   (__m512i)low[p],
					   _mm512_loadu_si512(odd),
					   (__m512i)high[p]));
}

/* Clears tiles 0 to 3, the sums of C: 2 x 2 or 4 x 1 tiles. */
INLINE void amx_zero(void)
{
	amx_hold_memory();
	_tile_zero(0);
	_tile_zero(1);
	_tile_zero(2);
	_tile_zero(3);
}

/* Adds the product of A's two tiles and B's two to the 2 x 2 tiles of C. */
INLINE void amx_add_square(const amx_tile *a, const amx_tile *next_a,
			   const amx_tile *b, const amx_tile *next_b)
{
	_tile_loadd(4, a, AMX_ROW);
	_tile_loadd(6, b, AMX_ROW);
	_tile_dpbf16ps(0, 4, 6);
	_tile_loadd(7, next_b, AMX_ROW);
	_tile_dpbf16ps(1, 4, 7);
	_tile_loadd(5, next_a, AMX_ROW);
	_tile_dpbf16ps(2, 5, 6);
	_tile_dpbf16ps(3, 5, 7);
}

/* Pairs of parts (of A, of B) that are multiplied, the largest product last.
 * Each shares a part with the one before. */
static const uint8_t amx_products[6][2] = {
	{ 2, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 }, { 0, 2 }, { 0, 0 },
};

/* Returns the first entry of amx_products for this number of parts. */
INLINE int amx_first_product(int parts)
{
	return parts == 1 ? 5 : 0;
}

/*
 * Stores the 2 x 2 tiles of C as 32 x 32 floats, apart floats from row to row.
 * Parameter to is the place of the upper left tile, next_row of the lower left
 * one. The right tiles are next_column floats further on.
 */
INLINE void amx_store_square(float *to, float *next_row, size_t next_column,
			     size_t apart)
{
	_tile_stored(0, to, apart * sizeof(float));
	_tile_stored(1, to + next_column, apart * sizeof(float));
	_tile_stored(2, next_row, apart * sizeof(float));
	_tile_stored(3, next_row + next_column, apart * sizeof(float));
}

/* Stores four tiles of C below each other: to[64][16], apart floats per row. */
INLINE void amx_store_column(float *to, size_t apart)
{
	_tile_stored(0, to, apart * sizeof(float));
	_tile_stored(1, to + 16 * apart, apart * sizeof(float));
	_tile_stored(2, to + 32 * apart, apart * sizeof(float));
	_tile_stored(3, to + 48 * apart, apart * sizeof(float));
}

#endif
#endif
