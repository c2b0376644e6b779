/*
 * Pixels and signs in the order of lanes (stem_lanes.h).
 *
 * Each of the 64 pixels of a patch is at the same distance from the patch's
 * first one in every lane, and its neighbour in a row next to it.
 */
#include "backends/cpu/kernels/stem/stem_lanes.h"
#include "backends/cpu/kernels/stem_direct/stem_direct_amx.h"

size_t ISA_NAME(stem_signs)(const struct stem_shape *shape)
{
	if (stem_is_direct(shape))
		return stem_direct_signs_at(shape, stem_group(shape, LANES), 0,
					    0) * sizeof(uint32_t);
	return stem_signs_at(shape, stem_lanes_of(shape).vectors, 0) *
	       sizeof(lane_bits);
}

/*
 * places[LANES]: offset of each lane's patch, in floats from the first image; 0
 * in lanes without one. Returns the bits of the lanes with one. Places go on
 * from lane to lane, since divisions take time.
 */
static uint32_t places_find(const struct stem_shape *shape, int count,
			    int vector, int32_t *places)
{
	const struct stem_lanes lanes = stem_lanes_of(shape);
	const int is_tail = vector == lanes.group * lanes.main;
	const int first = (is_tail ? lanes.main : vector % lanes.main) * LANES;
	const int columns = (shape->width - STEM_PATCH) / STEM_TILE + 1;
	const int size = shape->channels * shape->height * shape->width;
	const int next_row = STEM_TILE * (shape->width - columns);
	int sample = is_tail ? 0 : vector / lanes.main, tile = first;
	const int start = STEM_TILE * (first / columns * shape->width +
				       first % columns);
	int column = first % columns, place = sample * size + start;
	uint32_t present = 0;

	for (int lane = 0; lane < LANES; lane++) {
		places[lane] = sample < count ? place : 0;
		present |= (uint32_t)(sample < count) << lane;
		place += STEM_TILE;
		if (++column == columns) {
			column = 0;
			place += next_row;
		}
		if (++tile == lanes.tiles) {
			tile = first;
			column = first % columns;
			place = ++sample * size + start;
		}
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
