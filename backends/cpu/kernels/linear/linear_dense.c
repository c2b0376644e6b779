/*
 * Forward products of a linear layer without dropout, as in an evaluation: see
 * linear_forward.c.
 *
 *   sums[b][o] += w[c][o] . x[b][c] for all samples b, outputs o and blocks c
 *
 * A tile of SAMPLES by OUTPUTS keeps its sums in registers: 11 loads for 24
 * products (AVX2: 7 for 12).
 *
 * Blocking: a group of blocks at a time, so that sums are loaded and stored
 * once per group. The rows of a tile's outputs (18 KB for blocks of 144) stay
 * in the first level while the inputs of all samples (300 KB for 128 samples)
 * pass from the second. Meanwhile the next outputs' rows are prefetched. 64 or
 * 128 samples per call are fastest.
 *
 * Ceiling, on a Xeon with AVX-512 and AMX: 213 GFLOP/s with all operands in
 * registers, 167 with 8 loads from the first level per 24 products.
 */
#include "backends/cpu/kernels/linear/linear_forward.h"

#define BLOCKS 4 /* in a group */
#define SAMPLES 3

#if LANES == 16
#define OUTPUTS 8 /* 24 sums and 4 operands in 32 registers */
#else
#define OUTPUTS 4 /* 12 sums and 4 operands in 16 registers */
#endif

/* A tile's corner: inputs of the first sample, rows of the first output. */
struct tile {
	const float *in, *rows;
	float *sums;
	size_t sample;	 /* floats from sample to sample */
	size_t stride;	 /* floats from row to row */
	size_t from_sum; /* floats from a sample's sums to the next one's */
	int last;	 /* row; later ones repeat it */
};

/* Adds the products of a vector of places, or of rest places. */
INLINE void add_vector(const struct tile *tile, vec sums[SAMPLES][OUTPUTS],
		       size_t at, int samples, int outputs, int rest)
{
	const float *in = tile->in + at, *rows = tile->rows + at;
	vec values[SAMPLES];

	UNROLL
	for (int b = 0; b < samples; b++)
		values[b] = tile_load(in + (size_t)b * tile->sample, rest);
	UNROLL
	for (int o = 0; o < outputs; o++) {
		const int which = o < tile->last ? o : tile->last;
		const vec row = vec_hold(tile_load(
			rows + (size_t)which * tile->stride, rest));

		UNROLL
		for (int b = 0; b < samples; b++)
			sums[b][o] += values[b] * row;
	}
}

/* Adds samples x outputs sums over count blocks. */
INLINE void add_tile(const struct forward *forward, struct tile tile,
		     int count, int samples, int outputs)
{
	const int places = forward->shape->block;
	const int whole = places / LANES * LANES;
	vec sums[SAMPLES][OUTPUTS];

	UNROLL
	for (int i = 0; i < samples * outputs; i++)
		sums[i / outputs][i % outputs] = vec_set(0);
	for (int block = 0; block < count; block++) {
		for (int at = 0; at < whole; at += LANES)
			add_vector(&tile, sums, (size_t)at, samples, outputs,
				   0);
		if (whole < places)
			add_vector(&tile, sums, (size_t)whole, samples,
				   outputs, places - whole);
		tile.in += forward->batch->block;
		tile.rows += linear_weight_at(forward->shape, 0, 1, 0);
	}
	UNROLL
	for (int b = 0; b < samples; b++)
		UNROLL
		for (int o = 0; o < outputs; o += FOLD) {
			float *to = tile.sums + (size_t)b * tile.from_sum +
				    o / FOLD * LANES;

			vec_store(to, vec_load(to) + vec_fold(&sums[b][o]));
		}
}

static struct tile tile_at(const struct forward *forward, int block, int b,
			   int o)
{
	const struct linear_shape *shape = forward->shape;
	const struct linear_batch *batch = forward->batch;
	const int vectors = (shape->outputs + FOLD - 1) / FOLD;

	return (struct tile){
		.in = batch->in + (size_t)b * batch->sample +
		      (size_t)block * batch->block,
		.rows = forward->weights + linear_weight_at(shape, o, block, 0),
		.sums = forward->sums +
			((size_t)b * (size_t)vectors + (size_t)(o / FOLD)) *
				LANES,
		.sample = batch->sample,
		.stride = (size_t)shape->block,
		.from_sum = (size_t)vectors * LANES,
		.last = shape->outputs - o - 1,
	};
}

/* Prefetches the share of samples b .. b + samples - 1 of the next outputs'
 * rows. */
INLINE void fetch_next(const struct forward *forward, int block, int count,
		       int b, int samples, int o, int outputs)
{
	const struct linear_shape *shape = forward->shape;
	const size_t rows = linear_weight_at(shape, outputs, 0, 0);
	const size_t all = (size_t)forward->batch->count;
	const size_t to = rows * (size_t)(b + samples) / all;

	for (int c = block; c < block + count; c++) {
		const float *next = forward->weights +
				    linear_weight_at(shape, o + outputs, c, 0);

		for (size_t i = rows * (size_t)b / all; i < to;
		     i += CACHE_LINE / sizeof(float))
			__builtin_prefetch(next + i, 0, 2);
	}
}

/* Adds all samples for a tile's number of outputs: OUTPUTS or FOLD. */
INLINE void add_outputs(const struct forward *forward, int block, int count,
			int o, int outputs)
{
	const int samples = forward->batch->count;
	int b = 0;

	for (; b + SAMPLES <= samples; b += SAMPLES) {
		fetch_next(forward, block, count, b, SAMPLES, o, outputs);
		add_tile(forward, tile_at(forward, block, b, o), count, SAMPLES,
			 outputs);
	}
	for (; b < samples; b++) {
		fetch_next(forward, block, count, b, 1, o, outputs);
		add_tile(forward, tile_at(forward, block, b, o), count, 1,
			 outputs);
	}
}

void VEC_NAME(linear_dense)(const struct forward *forward)
{
	const int blocks = forward->shape->blocks;
	const int outputs = forward->shape->outputs;

	for (int block = 0; block < blocks; block += BLOCKS) {
		const int left = blocks - block;
		const int count = left < BLOCKS ? left : BLOCKS;
		int o = 0;

		for (; o + OUTPUTS <= outputs; o += OUTPUTS)
			add_outputs(forward, block, count, o, OUTPUTS);
		for (; o < outputs; o += FOLD)
			add_outputs(forward, block, count, o, FOLD);
	}
}
