/*
 * Order of the pixels of pooled planes; dropout by elements and the second
 * ReLU, if the stem has them. Outputs and dy are in the order of places,
 * choices in the order of pixels.
 *
 *   values: [outputs][place]    keep: [outputs][row][column]
 *
 * The choices of a plane are put in order first, one byte per cycle, which
 * takes most of the time; the rest are vectors from the cache.
 */
#include "backends/cpu/kernels/simd/simd_masks.h"
#include "backends/cpu/kernels/stem_direct/stem_direct_amx.h"

int ISA_NAME(stem_place)(const struct stem_shape *shape, int pixel)
{
	const int width = (shape->width - 4) / 2; /* pooled */
	const int row = pixel / width, column = pixel % width;
	const int tile = row / 2 * (width / 2) + column / 2;

	if (stem_is_direct(shape))
		return pixel;
	return (row % 2 * 2 + column % 2) * stem_tiles(shape) + tile;
}

size_t ISA_NAME(stem_drop_scratch)(const struct stem_shape *shape)
{
	/* A byte a pixel, whole vectors of them. */
	return ((size_t)stem_plane(shape) + LANES) / sizeof(float) + 1;
}

void ISA_NAME(stem_drop)(const struct stem_shape *shape, const uint8_t *keep,
			 const int *pixel_order, float scale, float *values,
			 float *scratch)
{
	const int plane = stem_plane(shape);
	uint8_t *kept = (uint8_t *)scratch;

	for (int o = 0; o < shape->outputs; o++) {
		for (int p = 0; p < plane; p++)
			kept[pixel_order[p]] = keep[p];
		for (int p = 0; p < plane; p += LANES) {
			const int rest = plane - p;
			const mask chosen = mask_of_bytes(kept + p, 1);

			if (rest >= LANES)
				vec_store(values + p,
					  vec_keep(chosen, scale * vec_load(
							values + p)));
			else
				vec_store_first(values + p,
						vec_keep(chosen,
							 scale * vec_load_first(
							values + p, rest)),
						rest);
		}
		keep += plane;
		values += plane;
	}
}

void ISA_NAME(stem_stop)(size_t count, const float *out, float scale,
			 float *dy)
{
	size_t i = 0;

	for (; i + LANES <= count; i += LANES)
		vec_store(dy + i,
			  vec_keep(mask_passes(vec_load(out + i)),
				   scale * vec_load(dy + i)));
	for (; i < count; i++)
		dy[i] = out[i] <= 0 ? 0 : scale * dy[i];
}
