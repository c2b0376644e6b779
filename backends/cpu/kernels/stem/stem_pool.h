/*
 * The end of the stem forward: y = A^T M A of a plane and vector of tiles, its
 * quadrants' maxima, and where they are stored. stem_forward.c and
 * stem_direct_forward_amx.c share it.
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_STEM_POOL_H
#define BACKENDS_CPU_KERNELS_STEM_STEM_POOL_H

#include "backends/cpu/kernels/simd/simd_masks.h"
#include "backends/cpu/kernels/stem/stem_kernels.h"
#include "backends/cpu/kernels/winograd/winograd.h"

#define TAIL -1 /* in the place of a sample: several ones' */

/* Arguments of a call. */
struct task {
	const struct stem_shape *shape;
	const struct stem_weights *weights;
	const struct stem_batch *batch;
	struct stem_lanes lanes;
	float *out;
	uint8_t *winners, *signs;
	float *patches, *data, *products; /* scratch */
	float *tiles;			  /* the same for AMX */
};

/* Returns the offset of a plane's outputs: its first quadrant. */
INLINE size_t plane_at(const struct task *task, int sample, int plane)
{
	return (size_t)(sample * task->shape->outputs + plane) *
	       STEM_QUADRANTS * (size_t)task->lanes.tiles;
}

INLINE int plane_is_kept(const struct task *task, int sample, int plane)
{
	const uint8_t *keep = task->batch->keep;

	return !keep || keep[sample * task->shape->outputs + plane];
}

/* Returns 1 if the sample, or any that shares the tail, keeps the plane. */
INLINE int plane_is_wanted(const struct task *task, int sample, int plane)
{
	if (sample != TAIL)
		return plane_is_kept(task, sample, plane);
	for (int n = 0; n < task->batch->count; n++)
		if (plane_is_kept(task, n, plane))
			return 1;
	return 0;
}

/* Four pixels in their order; winner is where the largest one is. */
INLINE vec window_pool(const vec window[STEM_QUADRANTS], lane_bytes *winner)
{
	const mask above = mask_wins(window[1], window[0]);
	const mask below = mask_wins(window[3], window[2]);
	const vec top = vec_choose(above, window[1], window[0]);
	const vec bottom = vec_choose(below, window[3], window[2]);
	const mask lower = mask_wins(bottom, top);

	*winner = bytes_choose(
		lower, bytes_choose(below, bytes_set(3), bytes_set(2)),
		bytes_choose(above, bytes_set(1), bytes_set(0)));
	return vec_choose(lower, bottom, top);
}

/* A^T M A of one plane and vector, pooled; stride is M's from point to point */
INLINE void tile_pool(const float *products, size_t stride,
		      vec pooled[STEM_QUADRANTS],
		      lane_bytes winners[STEM_QUADRANTS])
{
	vec half[WINOGRAD_DATA][STEM_TILE];

	UNROLL for (int x = 0; x < WINOGRAD_DATA; x++) {
		const float *at = products + (size_t)x * stride;
		vec column[WINOGRAD_DATA];

		UNROLL for (int y = 0; y < WINOGRAD_DATA; y++) {
			if (y)
				at = address_hold(at + WINOGRAD_DATA * stride);
			column[y] = vec_load(at);
		}
		points_to_output(column, half[x]);
	}
	UNROLL for (int y = 0; y < STEM_TILE; y += 2) {
		vec rows[2][STEM_TILE];

		UNROLL for (int r = 0; r < 2; r++) {
			vec row[WINOGRAD_DATA];

			UNROLL for (int x = 0; x < WINOGRAD_DATA; x++)
				row[x] = half[x][y + r];
			points_to_output(row, rows[r]);
		}
		UNROLL for (int x = 0; x < 2; x++) {
			const vec window[STEM_QUADRANTS] = {
				rows[0][2 * x], rows[0][2 * x + 1],
				rows[1][2 * x], rows[1][2 * x + 1],
			};

			pooled[y + x] = window_pool(window, &winners[y + x]);
		}
	}
}

/* Stores the quadrants of one sample's tiles, some lanes of a vector. */
INLINE void lanes_store(float *out, uint8_t *winners, size_t tiles,
			const vec *values, const lane_bytes *codes, int first,
			int count)
{
	UNROLL for (int q = 0; q < STEM_QUADRANTS; q++) {
		if (count == LANES)
			vec_store(out, values[q]);
		else
			vec_store_part(out, values[q], first, count);
		out += tiles;
	}
	if (!winners)
		return;
	UNROLL for (int q = 0; q < STEM_QUADRANTS; q++) {
		if (count == LANES)
			bytes_store(winners, codes[q]);
		else
			bytes_store_part(winners, codes[q], first, count);
		winners += tiles;
	}
}

/* A plane's quadrants of a vector, to where samples have them. */
INLINE void plane_store(const struct task *task, int sample, int tile,
			int plane, const vec *values, const lane_bytes *codes)
{
	const size_t tiles = (size_t)task->lanes.tiles;
	const int is_tail = sample == TAIL, rest = task->lanes.rest;
	const int first = is_tail ? 0 : sample;
	const int samples = is_tail ? task->batch->count : 1;

	for (int n = first; n < first + samples; n++) {
		const size_t at = plane_at(task, n, plane) + (size_t)tile;
		float *out = task->out + at;
		uint8_t *winners = task->winners ? task->winners + at : NULL;

		if (!is_tail)
			lanes_store(out, winners, tiles, values, codes, 0,
				    LANES);
		else if (plane_is_kept(task, n, plane))
			lanes_store(out, winners, tiles, values, codes,
				    n * rest, rest);
	}
}

/*
 * A plane of a vector whose first lane is a tile of sample, from its products;
 * stride is theirs from point to point.
 */
INLINE void plane_leave(const struct task *task, int sample, int tile,
			int plane, const float *products, size_t stride)
{
	const vec scale = vec_set(task->batch->scale);
	const vec bias = scale * vec_set(task->weights->bias[plane]);
	vec values[STEM_QUADRANTS];
	lane_bytes codes[STEM_QUADRANTS];

	tile_pool(products, stride, values, codes);
	UNROLL for (int q = 0; q < STEM_QUADRANTS; q++) {
		values[q] = values[q] * scale + bias;
		if (task->shape->relu)
			values[q] = vec_max(vec_set(0), values[q]);
	}
	plane_store(task, sample, tile, plane, values, codes);
}

#endif
