/*
 * Pixels and signs in the order of lanes (stem_lanes.h).
 *
 * Each of the 64 pixels of a patch is at the same distance from the patch's
 * first one in every lane: one gather, or LANES loads.
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
	uint32_t present = 0;

	for (int lane = 0; lane < LANES; lane++) {
		int sample, tile;

		if (is_tail) {
			sample = lane / lanes.rest;
			tile = lanes.main * LANES + lane % lanes.rest;
		} else {
			sample = vector / lanes.main;
			tile = vector % lanes.main * LANES + lane;
		}
		places[lane] = 0;
		if (sample >= count)
			continue;
		places[lane] = patch_place(shape, sample, tile);
		present |= 1u << lane;
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
			for (int x = 0; x < STEM_PATCH; x++) {
				vec_store(patches,
					  vec_gather(batch->images +
							     (size_t)c * plane +
							     y * shape->width +
							     x,
						     places, present));
				patches += LANES;
			}
}
