/*
 * A linear layer with few samples and many weights, row by row.
 *
 * Ceiling: reading the weights. Each is therefore read once, in the order of
 * memory. A row of places stays in registers while the samples that need it
 * pass; their inputs and dx in the block are in the first level. The forward
 * pass makes the sums of linear_forward.c. The backward pass makes dx, dw and
 * the optimizer's step of one row after the other, with the same bits as
 * linear_backward.c.
 *
 * With 32 samples and half of the outputs dropped, products limit it, one load
 * each, and it is no faster than the other kernels.
 */
#include "backends/cpu/kernels/linear/linear_backward.h"
#include "backends/cpu/kernels/linear/linear_forward.h"

/* Floats between a prefetch and its use: with weights alone, and with weights
 * and an optimizer's state. */
#define AHEAD 2048
#define STATE_AHEAD 1024

struct row_products {
	const struct linear_shape *shape;
	const struct linear_batch *batch;
	const float *weights;
	uint64_t *needed; /* [outputs]: bits of the samples that need it */
	/* [vectors][FOLD][LANES / FOLD]: FOLD products each, in order */
	float *sums;
};

/* Returns the bits of the samples that need output o. */
static uint64_t needed_by(const struct linear_batch *batch, int outputs, int o)
{
	uint64_t bits = 0;

	if (!batch->keep_out)
		return word_first(batch->count);
	for (int b = 0; b < batch->count; b++)
		bits |= (uint64_t)(batch->keep_out[b * outputs + o] != 0) << b;
	return bits;
}

/* A block of the forward pass. */
struct forward_block {
	const struct row_products *forward;
	int block;
	const float *in; /* of all samples, contiguous */
};

/* Adds the products of needed outputs, output by output, FOLD of them to a
 * vector of sums. Unused sums of the last vector are not read. */
INLINE void forward_tile(const void *of, int at, struct ahead *unused,
			 int vectors, int rest)
{
	const struct forward_block *pass = of;
	const struct row_products *forward = pass->forward;
	const struct linear_shape *shape = forward->shape;
	const size_t stride = (size_t)shape->block;
	float *sums = forward->sums;
	vec products[FOLD] = { vec_set(0), vec_set(0), vec_set(0), vec_set(0) };
	int filled = 0;

	(void)unused;
	for (int o = 0; o < shape->outputs; o++) {
		const float *row = forward->weights +
				   linear_weight_at(shape, o, pass->block, at);
		vec weights[TILE_MOST];

		UNROLL
		for (int v = 0; v < vectors; v++) {
			fetch(row, AHEAD + v * LANES);
			weights[v] = tile_load(row + v * LANES, rest);
		}
		for (uint64_t bits = forward->needed[o]; bits;
		     bits &= bits - 1) {
			const size_t b = (size_t)__builtin_ctzll(bits);
			const float *x = row_at(pass->in + at, b, stride);
			vec sum = vec_set(0);

			UNROLL
			for (int v = 0; v < vectors; v++)
				sum += weights[v] *
				       tile_load(x + v * LANES, rest);
			products[filled++] = sum;
			if (filled < FOLD)
				continue;
			vec_store(sums, vec_load(sums) + vec_fold(products));
			sums += LANES;
			filled = 0;
		}
	}
	if (filled)
		vec_store(sums, vec_load(sums) + vec_fold(products));
}

/* Converts sums to outputs; dropped outputs are 0. */
static void finish(const struct row_products *forward, const float *bias,
		   float *out)
{
	const struct linear_shape *shape = forward->shape;
	const size_t outputs = (size_t)shape->outputs;
	int place = 0;

	memset(out, 0, (size_t)forward->batch->count * outputs * sizeof(*out));
	for (int o = 0; o < shape->outputs; o++)
		for (uint64_t bits = forward->needed[o]; bits;
		     bits &= bits - 1, place++) {
			const size_t b = (size_t)__builtin_ctzll(bits);
			const float *sums =
				forward->sums + place / FOLD * LANES;
			float value = bias[o] + sum_of(sums, place % FOLD);

			/* A NaN fails the comparison and passes. */
			if (shape->relu && value <= 0)
				value = 0;
			out[b * outputs + (size_t)o] =
				forward->batch->scale * value;
		}
}

/* Cuts scratch into forward's arrays and gathered; returns its bytes. */
static size_t cut(struct row_products *forward, float **gathered,
		  const struct linear_shape *shape, int count, void *scratch)
{
	const size_t products = (size_t)count * (size_t)shape->outputs;
	size_t used = 0;

	forward->needed = scratch_take(
		scratch, &used, (size_t)shape->outputs * sizeof(uint64_t));
	forward->sums = scratch_take(scratch, &used,
				     (products / FOLD + 1) * LANES *
					     sizeof(float));
	*gathered = scratch_take(scratch, &used,
				 (size_t)count * (size_t)shape->block *
					 sizeof(float));
	return used;
}

size_t VEC_NAME(linear_rows_scratch)(const struct linear_shape *shape,
				     int count)
{
	struct row_products forward;
	float *gathered;

	return cut(&forward, &gathered, shape, count < WORD ? count : WORD,
		   NULL);
}

void VEC_NAME(linear_rows)(const struct linear_shape *shape,
			   const struct linear_values *parameters,
			   const struct linear_batch *batch, float *out,
			   void *scratch)
{
	struct row_products forward = {
		.shape = shape,
		.batch = batch,
		.weights = parameters->weights,
	};
	struct ahead unused = { 0 };
	size_t needed = 0;
	float *gathered;
	uint64_t all;

	cut(&forward, &gathered, shape, batch->count, scratch);
	for (int o = 0; o < shape->outputs; o++) {
		forward.needed[o] = needed_by(batch, shape->outputs, o);
		needed += (size_t)__builtin_popcountll(forward.needed[o]);
	}
	memset(forward.sums, 0,
	       (needed + FOLD - 1) / FOLD * LANES * sizeof(float));
	for (int block = 0; block < shape->blocks; block++) {
		const struct forward_block pass = {
			&forward, block,
			gather_block(shape, batch, block, 1, &all, gathered)
		};

		walk_tiles(forward_tile, &pass, shape->block, &unused);
	}
	finish(&forward, parameters->bias, out);
}

/* A block of the backward pass. */
struct backward_block {
	const struct backward *backward;
	int block;
	const float *in; /* of all samples, contiguous */
	float *dx;	 /* laid out as in, initially 0; or NULL */
};

/* Adds row o's products to dx and dw of a tile; weights: the row's. */
INLINE void add_samples(const struct backward_block *pass, int o, int at,
			const vec *weights, vec *dw, int vectors, int rest)
{
	const struct backward *backward = pass->backward;
	const size_t stride = (size_t)backward->shape->block;
	const float *dz = backward->outputs.values + (size_t)o * WORD;
	uint64_t bits = backward->outputs.samples[o] & *backward->kept;

	for (; bits; bits &= bits - 1) {
		const size_t b = (size_t)__builtin_ctzll(bits);
		const float *x = row_at(pass->in + at, b, stride);
		const vec factor = vec_set(dz[b]);

		UNROLL
		for (int v = 0; v < vectors; v++)
			dw[v] += factor * tile_load(x + v * LANES, rest);
		if (!pass->dx)
			continue;
		float *dx = pass->dx + b * stride + at;

		UNROLL
		for (int v = 0; v < vectors; v++)
			tile_store(dx + v * LANES,
				   tile_load(dx + v * LANES, rest) +
					   factor * weights[v],
				   rest);
	}
}

INLINE void backward_tile(const void *of, int at, struct ahead *unused,
			  int vectors, int rest)
{
	const struct backward_block *pass = of;
	const struct backward *backward = pass->backward;
	const struct linear_state *state = backward->state;
	const struct linear_shape *shape = backward->shape;

	(void)unused;
	for (int o = 0; o < shape->outputs; o++) {
		const size_t place =
			linear_weight_at(shape, o, pass->block, at);
		const float *row = backward->weights + place;
		vec weights[TILE_MOST], dw[TILE_MOST];

		UNROLL
		for (int v = 0; v < vectors; v++) {
			fetch_to_write(row, STATE_AHEAD + v * LANES);
			if (state && state->first.weights)
				fetch_to_write(state->first.weights + place,
					       STATE_AHEAD + v * LANES);
			if (state && state->second.weights)
				fetch_to_write(state->second.weights + place,
					       STATE_AHEAD + v * LANES);
			weights[v] = tile_load(row + v * LANES, rest);
			dw[v] = vec_set(0);
		}
		add_samples(pass, o, at, weights, dw, vectors, rest);
		if (state) {
			update_tile(state, &backward->rates, place, dw, NULL,
				    vectors, rest);
			continue;
		}
		UNROLL
		for (int v = 0; v < vectors; v++)
			tile_store(backward->gradient + place + v * LANES,
				   dw[v], rest);
	}
}

void VEC_NAME(linear_rows_backward)(const struct backward *backward, int block,
				    const float *in)
{
	const struct linear_shape *shape = backward->shape;
	const struct linear_batch *batch = backward->batch;
	const size_t stride = (size_t)shape->block;
	float *dx = backward->flow->dx;
	struct backward_block pass = { backward, block, in, NULL };
	struct ahead unused = { 0 };

	if (dx) {
		dx += (size_t)block * batch->block;
		pass.dx = blocks_are_near(shape, batch) ? dx :
							  backward->gathered_dx;
	}
	for (int b = 0; dx && b < batch->count; b++)
		if (is_kept(batch, shape, b, block))
			memset(pass.dx + (size_t)b * stride, 0,
			       stride * sizeof(*dx));
	walk_tiles(backward_tile, &pass, shape->block, &unused);
	for (int b = 0; dx && pass.dx != dx && b < batch->count; b++)
		if (is_kept(batch, shape, b, block))
			memcpy(dx + (size_t)b * batch->sample,
			       pass.dx + (size_t)b * stride,
			       stride * sizeof(*dx));
}
