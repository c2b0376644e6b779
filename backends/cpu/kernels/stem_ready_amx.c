/*
 * Slopes and winners in the order of steps, for stem_weights_amx.c, which reads
 * them once for each point: turned to pairs of tiles here, once.
 */
#include <string.h>

#include "backends/cpu/kernels/stem_weights_amx.h"

#ifdef __AMX_BF16__
#include "backends/cpu/kernels/simd_masks.h"

/* Floats of a plane's slopes and winners in a step. */
#define PLANE (STEM_READY * LANES)

/* Of two vectors one after the other, every second lane. */
static const lanes_int evens = {
	0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
};

/* A whole step of one plane, from the slopes of its first tile on. */
static void step_fill(const float *slopes, const uint8_t *winners, int tiles,
		      float *ready)
{
	lanes_int first = { 0 }, second = { 0 };

	UNROLL for (int q = 0; q < STEM_QUADRANTS; q++) {
		const int at = q * tiles;
		const vec low = vec_load(slopes + at);
		const vec high = vec_load(slopes + at + LANES);

		vec_store(ready + 2 * q * LANES,
			  __builtin_shuffle(low, high, evens));
		vec_store(ready + (2 * q + 1) * LANES,
			  __builtin_shuffle(low, high, evens + 1));
		first |= bytes_load_first(winners + at, LANES) << 2 * q;
		second |= bytes_load_first(winners + at + LANES, LANES)
			  << 2 * q;
	}
	vec_store(ready + 2 * STEM_QUADRANTS * LANES,
		  (vec)(__builtin_shuffle(first, second, evens) |
			__builtin_shuffle(first, second, evens + 1) << 8));
}

/* A lane of a plane: a pair, from the slopes of its first tile on. */
static void pair_fill(const float *slopes, const uint8_t *winners, int tiles,
		      float *ready)
{
	int32_t all = 0;

	for (int q = 0; q < STEM_QUADRANTS; q++) {
		ready[2 * q * LANES] = slopes[q * tiles];
		ready[(2 * q + 1) * LANES] = slopes[q * tiles + 1];
		all |= winners[q * tiles] << 2 * q |
		       winners[q * tiles + 1] << (2 * q + 8);
	}
	memcpy(ready + 2 * STEM_QUADRANTS * LANES, &all, sizeof(all));
}

/* Plane o of a sample. */
static void plane_fill(const struct stem_shape *shape,
		       const struct stem_steps *steps, int sample, int o,
		       const float *slopes, const uint8_t *winners,
		       float *ready)
{
	const int tiles = stem_tiles(shape);
	const size_t step = (size_t)(shape->outputs * PLANE);

	ready += o * PLANE;
	for (int n = 0; n < steps->whole; n++) {
		step_fill(slopes, winners, tiles,
			  ready + (size_t)(sample * steps->whole + n) * step);
		slopes += 2 * STEM_STEP;
		winners += 2 * STEM_STEP;
	}
	for (int j = steps->whole * STEM_STEP; j < steps->pairs; j++) {
		int row;
		const int to = stem_step_of(steps, sample, j, &row);

		pair_fill(slopes, winners, tiles,
			  ready + (size_t)to * step + row);
		slopes += 2;
		winners += 2;
	}
}

/* Whether a plane is kept by any sample of first .. first + count - 1. */
static int is_kept(const struct stem_batch *batch, int outputs, int o,
		   int first, int count)
{
	for (int s = first; s < first + count; s++)
		if (!batch->keep || batch->keep[s * outputs + o])
			return 1;
	return 0;
}

/* Those of steps behind have any sample's. */
static void kept_list(const struct stem_shape *shape,
		      const struct stem_batch *batch,
		      const struct stem_steps *steps, uint8_t *kept)
{
	for (int n = 0; n < steps->all; n++) {
		const int own = n < steps->count * steps->whole;
		const int first = own ? n / steps->whole : 0;

		for (int o = 0; o < shape->outputs; o++) {
			if (o % STEM_BLOCK == 0)
				kept[0] = 0;
			if (is_kept(batch, shape->outputs, o, first,
				    own ? 1 : steps->count))
				kept[++kept[0]] = (uint8_t)(o % STEM_BLOCK);
			if (o % STEM_BLOCK != STEM_BLOCK - 1)
				continue;
			kept[kept[0] + 1] = kept[kept[0]];
			kept += STEM_KEPT;
		}
	}
}

void ISA_NAME(stem_ready)(const struct stem_shape *shape,
			  const struct stem_batch *batch, const float *slopes,
			  const uint8_t *winners, float *ready, uint8_t *kept,
			  float *slopes_by_bias)
{
	const struct stem_steps steps = stem_steps_of(shape, batch->count);
	const int plane = stem_plane(shape);
	const int own = steps.count * steps.whole;
	const size_t step = (size_t)(shape->outputs * PLANE);

	kept_list(shape, batch, &steps, kept);
	memset(ready + (size_t)own * step, 0,
	       (size_t)(steps.all - own) * step * sizeof(*ready));
	for (int s = 0; s < batch->count; s++)
		for (int o = 0; o < shape->outputs; o++) {
			if (is_kept(batch, shape->outputs, o, s, 1)) {
				plane_fill(shape, &steps, s, o, slopes, winners,
					   ready);
				slopes_by_bias[o] +=
					batch->scale *
					stem_plane_sum(slopes, plane);
			}
			slopes += plane;
			winners += plane;
		}
}
#endif
