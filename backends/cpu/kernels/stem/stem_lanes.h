/*
 * Order of tiles in the lanes of the stem's vectors, the same forward and
 * backward, and layouts that follow it.
 *
 * A group of stem_group() samples of T tiles each has
 *   vectors s * main .. (s + 1) * main - 1   the first main * LANES tiles of
 *                                            sample s, main = T / LANES
 *   vector group * main, where T % LANES > 0: lane s * rest + r is the tile
 *                                            main * LANES + r of sample s
 * so that all but the last, the tail, belong to one sample, whose dropped
 * planes are skipped there. The numbers are the same where a batch has fewer
 * samples than a group; the lanes of absent samples hold nothing.
 *
 * Signs: for each vector and plane between, the 6x6 values under a tile, a bit
 * for each lane, set where ReLU lets the value pass:
 *   lane_bits signs[vector][middle][y * 6 + x]
 * The bits of lanes without a tile are undefined.
 *
 * Patches: the 8x8 pixels that a tile comes from, of one vector of tiles:
 *   float patches[channels][y * 8 + x][LANES]
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_STEM_LANES_H
#define BACKENDS_CPU_KERNELS_STEM_STEM_LANES_H

#include "backends/cpu/kernels/simd/simd.h"
#include "backends/cpu/kernels/stem/stem.h"

#if LANES > 8
typedef uint16_t lane_bits;
#else
typedef uint8_t lane_bits;
#endif

struct stem_lanes {
	int tiles;   /* of a sample */
	int main;    /* vectors of one sample's tiles alone */
	int rest;    /* tiles of a sample that are in the tail */
	int group;   /* samples */
	int vectors; /* of a group, the tail included */
};

INLINE struct stem_lanes stem_lanes_of(const struct stem_shape *shape)
{
	struct stem_lanes lanes = {
		.tiles = stem_tiles(shape),
		.group = stem_group(shape, LANES),
	};

	lanes.main = lanes.tiles / LANES;
	lanes.rest = lanes.tiles % LANES;
	lanes.vectors = lanes.group * lanes.main + (lanes.rest > 0);
	return lanes;
}

/* Returns the offset of the STEM_POINTS signs of a vector's plane. */
INLINE size_t stem_signs_at(const struct stem_shape *shape, int vector,
			    int plane)
{
	return ((size_t)vector * (size_t)shape->middle + (size_t)plane) *
	       STEM_POINTS;
}

/* Signs are bytes to the caller, and need not be aligned. */
INLINE uint32_t lane_bits_load(const uint8_t *signs, size_t at)
{
	lane_bits bits;

	memcpy(&bits, signs + at * sizeof(bits), sizeof(bits));
	return bits;
}

INLINE void lane_bits_store(uint8_t *signs, size_t at, uint32_t value)
{
	const lane_bits bits = (lane_bits)value;

	memcpy(signs + at * sizeof(bits), &bits, sizeof(bits));
}

#endif
