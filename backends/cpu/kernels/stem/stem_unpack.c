/* The signs of a group's planes, for one sample and pixel by pixel. */
#include "backends/cpu/kernels/stem_direct/stem_direct_amx.h"

/* The vector that a sample's tile is in, and its lane there. */
static int vector_of(const struct stem_lanes *lanes, int sample, int tile,
		     int *lane)
{
	const int own = lanes->main * LANES;

	if (tile < own) {
		*lane = tile % LANES;
		return sample * lanes->main + tile / LANES;
	}
	*lane = sample * lanes->rest + tile - own;
	return lanes->group * lanes->main;
}

/* Returns column x of a row of stem_direct_amx.h's signs. */
static uint8_t direct_sign(const struct stem_shape *shape, const uint8_t *signs,
			   int sample, int plane, int y, int x)
{
	const size_t at = stem_direct_signs_at(shape, sample, plane, y) +
			  (size_t)(x / STEM_WORD_BITS);

	return stem_direct_word(signs, at) >> x % STEM_WORD_BITS & 1;
}

static void direct_unpack(const struct stem_shape *shape, const uint8_t *signs,
			  int sample, uint8_t *values)
{
	for (int i = 0; i < shape->middle; i++)
		for (int y = 0; y < shape->height - 2; y++)
			for (int x = 0; x < shape->width - 2; x++)
				*values++ = direct_sign(shape, signs, sample, i,
							y, x);
}

void ISA_NAME(stem_unpack)(const struct stem_shape *shape, const uint8_t *signs,
			   int sample, uint8_t *values)
{
	const struct stem_lanes lanes = stem_lanes_of(shape);
	const int height = shape->height - 2, width = shape->width - 2;
	const int columns = (width - 2) / STEM_TILE;

	if (stem_is_direct(shape)) {
		direct_unpack(shape, signs, sample, values);
		return;
	}
	for (int i = 0; i < shape->middle; i++)
		for (int y = 0; y < height; y++)
			for (int x = 0; x < width; x++) {
				/* Neighbours overlap: of both, the first. */
				const int r = y < 2 ? 0 : (y - 2) / STEM_TILE;
				const int c = x < 2 ? 0 : (x - 2) / STEM_TILE;
				const int place = (y - r * STEM_TILE) * 6 + x -
						  c * STEM_TILE;
				int lane, v;

				v = vector_of(&lanes, sample, r * columns + c,
					      &lane);
				*values++ = lane_bits_load(
					signs, stem_signs_at(shape, v, i) +
						       (size_t)place) >>
						    lane & 1;
			}
}
