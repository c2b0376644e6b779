/*
 * Packs the second convolution's weights for stem_direct_data_amx.c: B, of 16
 * planes between and, along k, outputs of the taps of a row of windows.
 *
 *   weights: [outputs][3][3][middle]    tiles: [group][row of taps][step]
 */
#include "backends/cpu/kernels/stem_direct/stem_direct_data_amx.h"

size_t ISA_NAME(stem_direct_data_weights)(const struct stem_shape *shape)
{
	const struct direct_data data = direct_data_of(shape);

	if (!stem_is_direct(shape))
		return 0;
	return direct_weights_size(&data) * sizeof(amx_tile) / sizeof(float);
}

/* Planes plane .. plane + 15 of output o; zeros where there are none. */
INLINE vec weights_load(const struct stem_shape *shape, const float *weights,
			int o, int tap, int plane)
{
	const int rest = shape->middle - plane;

	if (o >= shape->outputs || rest <= 0)
		return (vec){ 0 };
	return vec_load_first(weights +
				      (o * STEM_TAPS + tap) * shape->middle +
				      plane,
			      rest < LANES ? rest : LANES);
}

/* Outputs o .. o + 31 of a tap and 16 planes. */
static void tile_fill(const struct stem_shape *shape, const float *weights,
		      int o, int tap, int plane, uint16_t *to)
{
	for (int k = 0; k < AMX_DEPTH; k += 2) {
		_mm512_store_si512(to, amx_round_pair(
			weights_load(shape, weights, o + k, tap, plane),
			weights_load(shape, weights, o + k + 1, tap, plane)));
		to += AMX_DEPTH;
	}
}

void ISA_NAME(stem_direct_data_transform)(const struct stem_shape *shape,
					  const float *weights, void *tiles)
{
	const struct direct_data data = direct_data_of(shape);
	amx_tile *to = tiles;

	/* Pixels further on come later: the last column of the window first. */
	for (int i = 0; i < data.groups * AMX_COLUMNS; i += AMX_COLUMNS)
		for (int t = 0; t < STEM_TAPS; t++)
			for (int o = 0; o < data.pitch; o += AMX_DEPTH) {
				const int tap = t / 3 * 3 + 2 - t % 3;

				tile_fill(shape, weights, o, tap, i, *to++);
			}
}
