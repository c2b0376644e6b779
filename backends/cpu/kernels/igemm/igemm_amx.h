/* Products of 2 x 2 AMX tiles (simd/amx.h), which igemm_amx.c and
 * igemm_weights_amx.c pack. */
#ifndef BACKENDS_CPU_KERNELS_IGEMM_IGEMM_AMX_H
#define BACKENDS_CPU_KERNELS_IGEMM_IGEMM_AMX_H

#include "backends/cpu/kernels/simd/amx.h"
#include "backends/cpu/kernels/igemm/igemm_kernels.h"

#ifdef __AMX_BF16__

#define SQUARE (2 * AMX_ROWS) /* rows and columns of 2 x 2 tiles */

static const float nothing[AMX_COLUMNS];

/* Loads the 2 x 2 tiles of C; its rows are apart floats from each other. */
INLINE void load_square(const float *from, size_t apart)
{
	const float *below = from + AMX_ROWS * apart;

	amx_hold_memory();
	_tile_loadd(0, from, apart * sizeof(float));
	_tile_loadd(1, from + AMX_COLUMNS, apart * sizeof(float));
	_tile_loadd(2, below, apart * sizeof(float));
	_tile_loadd(3, below + AMX_COLUMNS, apart * sizeof(float));
}

/*
 * Adds the products of steps tiles: C0 += a b. If columns is 2, C1 += a next_b;
 * if rows is 2, C2 += next_a b; if both are, C3 += next_a next_b. rows and
 * columns are constants.
 */
INLINE void add_steps(amx_tile *a, amx_tile *next_a, amx_tile *b,
		      amx_tile *next_b, int steps, int rows, int columns)
{
	for (int s = 0; s < steps; s++) {
		_tile_loadd(4, a + s, AMX_ROW);
		_tile_loadd(6, b + s, AMX_ROW);
		_tile_dpbf16ps(0, 4, 6);
		if (columns > 1) {
			_tile_loadd(7, next_b + s, AMX_ROW);
			_tile_dpbf16ps(1, 4, 7);
		}
		if (rows > 1) {
			_tile_loadd(5, next_a + s, AMX_ROW);
			_tile_dpbf16ps(2, 5, 6);
		}
		if (rows > 1 && columns > 1)
			_tile_dpbf16ps(3, 5, 7);
	}
}

/* Calls add_steps() with rows and columns as constants. */
INLINE void add_square(amx_tile *a, amx_tile *next_a, amx_tile *b,
		       amx_tile *next_b, int steps, int rows, int columns)
{
	if (rows > 1 && columns > 1)
		add_steps(a, next_a, b, next_b, steps, 2, 2);
	else if (rows > 1)
		add_steps(a, next_a, b, next_b, steps, 2, 1);
	else if (columns > 1)
		add_steps(a, next_a, b, next_b, steps, 1, 2);
	else
		add_steps(a, next_a, b, next_b, steps, 1, 1);
}

void ISA_NAME(igemm_differentiate_tiles)(const struct igemm *igemm,
					  const struct igemm_batch *batch,
					  const float *dy, float *dw,
					  float *dbias, void *scratch);

#endif
#endif
