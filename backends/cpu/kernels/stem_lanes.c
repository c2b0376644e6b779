/*
 * Pixels and signs in the order of lanes (stem_lanes.h).
 *
 * Each of the 64 pixels of a patch is at the same distance from the patch's
 * first one in every lane, and its neighbour in a row beside it.
 */
#include "backends/cpu/kernels/stem_lanes.h"
#include "backends/cpu/kernels/stem_direct_amx.h"

size_t ISA_NAME(stem_signs)(const struct stem_shape *shape)
{
	if (stem_is_direct(shape))
		return stem_direct_signs_at(shape, stem_group(shape, LANES), 0,
					    0) * sizeof(uint32_t);
	return stem_signs_at(shape, stem_lanes_of(shape).vectors, 0) *
	       sizeof(lane_bits);
}

/* Where a tile's patch begins, in floats from the first image. */
static int32_t patch_place(const struct stem_shape *shape, int sample, int tile)
{
	const int columns = (shape->width - STEM_PATCH) / STEM_TILE + 1;
	const int row = tile / columns * STEM_TILE;
	const int column = tile % columns * STEM_TILE;

	return (sample * shape->channels * shape->height + row) *
		       shape->width + column;
}

/* The places of a vector's patches; bits of the lanes that have one. */
static uint32_t places_find(const struct stem_shape *shape, int count,
			    int vector, int32_t *places)
{
	const struct stem_lanes lanes = stem_lanes_of(shape);
	const int is_tail = vector == lanes.group * lanes.main;
	const int first = (is_tail ? lanes.main : vector % lanes.main) * LANES;
	int sample = is_tail ? 0 : vector / lanes.main, tile = first;
	uint32_t present = 0;

	for (int lane = 0; lane < LANES; lane++) {
		places[lane] = 0;
		if (sample < count) {
			places[lane] = patch_place(shape, sample, tile);
			present |= 1u << lane;
		}
		if (++tile < lanes.tiles)
			continue;
		sample++;
		tile = first;
	}
	return present;
}

void ISA_NAME(stem_gather)(const struct stem_shape *shape,
			   const struct stem_batch *batch, int vector,
			   float *patches)
{
	const size_t plane = (size_t)shape->height * (size_t)shape->width;
	int32_t places[LANES];
	const uint32_t present = places_find(shape, batch->count, vector,
					     places);

	for (int c = 0; c < shape->channels; c++)
		for (int y = 0; y < STEM_PATCH; y++)
			for (int x = 0; x < STEM_PATCH; x += 4) {
				vec pixels[4];

				vec_gather_four(batch->images +
							(size_t)c * plane +
							y * shape->width + x,
						places, present, pixels);
				UNROLL for (int i = 0; i < 4; i++)
					vec_store(patches + i * LANES,
						  pixels[i]);
				patches += 4 * LANES;
			}
}
