/*
 * The peak of AMX's tiles, see backends/contract/peak.h and peak.c:
 *
 *   tile product   C[i] += A B of bf16: 16 x 16 x 32 products and sums
 *
 * The build for AVX-512 has the other loops. Four tiles of sums are enough: a
 * product begins every 16 cycles and takes 52.
 */
#include "backends/cpu/kernels/simd/amx.h"
#include "backends/cpu/kernels/table.h"

#define TILES 4

static double tile_product(const float *memory, size_t size, long rounds,
			   float *result)
{
	/* 1.0 in each half. */
	const vec ones = (vec)_mm512_set1_epi32(0x3f803f80);
	float tile[AMX_ROWS * LANES] __attribute__((aligned(64)));

	(void)memory, (void)size;
	for (int r = 0; r < AMX_ROWS; r++)
		vec_store(tile + r * LANES, ones);
	amx_begin();
	amx_zero();
	_tile_loadd(4, tile, AMX_ROW);
	_tile_loadd(5, tile, AMX_ROW);
	for (long r = 0; r < rounds; r++) {
		_tile_dpbf16ps(0, 4, 5);
		_tile_dpbf16ps(1, 4, 5);
		_tile_dpbf16ps(2, 4, 5);
		_tile_dpbf16ps(3, 4, 5);
	}
	_tile_stored(3, tile, AMX_ROW);
	amx_end();
	*result += tile[0];
	return 2. * TILES * AMX_ROWS * AMX_COLUMNS * AMX_DEPTH *
	       (double)rounds;
}

const struct peak *ISA_NAME(peak)(int index)
{
	static const struct peak tiles = { .name = "bf16 tile product",
					   .isa = "amx",
					   .work = tile_product };

	return index ? NULL : &tiles;
}
