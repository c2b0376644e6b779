/*
 * The second convolution's weights for the stem's direct convolutions, rounded
 * to bf16, as tiles A[outputs / 32][middle / 32][9][2][16 outputs][32 planes].
 */
#include "backends/cpu/kernels/stem_direct/stem_direct_forward_amx.h"

/* The last block of outputs is padded. */
static size_t tiles_size(const struct stem_shape *shape)
{
	const int blocks = (shape->outputs + STEM_BLOCK - 1) / STEM_BLOCK;

	return (size_t)blocks * stem_direct_block_tiles(shape) *
	       sizeof(amx_tile);
}

size_t ISA_NAME(stem_direct_tiled)(const struct stem_shape *shape)
{
	return tiles_size(shape) / sizeof(float);
}

/* Rounds count <= AMX_DEPTH floats. */
static void weights_round(const float *weights, int count, uint16_t *row)
{
	const int rest = count - LANES;

	_mm512_store_si512(row,
			   amx_round(vec_load_first(weights,
						    rest < 0 ? count : LANES),
				     vec_load_first(weights + LANES,
						    rest < 0 ? 0 : rest)));
}

void ISA_NAME(stem_direct_tile)(const struct stem_shape *shape,
				const float *weights, float *points)
{
	const int deep = stem_direct_deep(shape);
	amx_tile *tiles = (amx_tile *)(void *)points;

	memset(points, 0, tiles_size(shape));
	for (int o = 0; o < shape->outputs; o++)
		for (int t = 0; t < STEM_TAPS; t++)
			for (int i = 0; i < shape->middle; i += AMX_DEPTH) {
				const int rest = shape->middle - i;
				const int at = (o / STEM_BLOCK * deep + i) /
						       AMX_DEPTH * STEM_TAPS +
					       t;

				weights_round(weights +
						      (o * STEM_TAPS + t) *
							      shape->middle +
						      i,
					      rest < AMX_DEPTH ? rest :
								 AMX_DEPTH,
					      tiles[at * 2 + o % STEM_BLOCK /
								     AMX_ROWS] +
						      o % AMX_ROWS * AMX_DEPTH);
			}
}
