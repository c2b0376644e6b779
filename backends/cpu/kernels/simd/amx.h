/*
 * Matrix products of bf16 on the tiles of AMX, with sums in fp32:
 *
 *   C[m][n] = sum over k of A[m][k] B[k][n]
 *
 * A tile has 16 rows of 64 bytes:
 *
 *   A: [m: 16][k: 32]    B: [k / 2: 16][n: 16][k % 2]    C: [m: 16][n: 16]
 *
 * so that a row of B interleaves two rows of floats, k and k + 1.
 *
 * Ceiling: a Xeon does 2.5 TFLOP/s (3.1 with zeros or ones). Tiles load
 * meanwhile, but FMAs then run at half their rate.
 */
#ifndef BACKENDS_CPU_KERNELS_SIMD_AMX_H
#define BACKENDS_CPU_KERNELS_SIMD_AMX_H

#include "backends/cpu/kernels/simd/simd_masks.h"

#ifdef __AMX_BF16__

#define AMX_ROWS 16	/* rows of a tile of A or C */
#define AMX_COLUMNS 16	/* columns of a tile of B or C */
#define AMX_DEPTH 32	/* k of a tile of A or B */
#define AMX_ROW 64	/* bytes of a row */

/* A tile of A or B. */
typedef uint16_t amx_tile[AMX_ROWS * AMX_DEPTH];

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
