/*
 * Backward pass of a linear layer that skips zero gradients:
 *
 *   dz[b][o] = scale * dh[b][o] where ReLU and dropout pass it, else 0
 *   dx[b][c][i] = sum over o of dz[b][o] w[c][o][i]
 *   dw[c][o][i] = sum over b of dz[b][o] x[b][c][i]
 *
 * x[b][c][i] are the inputs, w[c][o][i] the weights: places i within block c.
 * After ReLU and a dropout of half, a quarter of dz is not 0. Both sums work
 * alike: a row of places stays in registers, and each nonzero dz is one
 * broadcast, multiplied by a row from the cache.
 *
 * Blocking: blocks of inputs in turn, and in each the rows of 128 outputs at a
 * time, dx before dw. For dx, the rows of 64 outputs (37 KB for 144 places)
 * stay in the first level while all samples pass. Meanwhile dw's operands of
 * these rows are prefetched, then the next rows' operands. Few samples of a
 * large layer go through linear_rows.c instead.
 *
 * Ceiling: 7 cycles for a row of 9 products, as in the forward pass. dw with
 * Adadelta is bound by the third level's bandwidth: post 002's layer moves 14
 * MB of parameters and state each way.
 */
#include "backends/cpu/kernels/linear/linear_backward.h"

size_t VEC_NAME(linear_cut_part)(struct output_gradients *outputs,
				 const struct linear_shape *shape, int count,
				 void *part)
{
	size_t words, used = 0;

	/* Without samples there is one chunk, and the gradient is 0. */
	outputs->chunks = word_count(count ? count : 1);
	words = (size_t)shape->outputs * (size_t)outputs->chunks;
	outputs->samples =
		scratch_take(part, &used, words * sizeof(uint64_t));
	outputs->values =
		scratch_take(part, &used, words * WORD * sizeof(float));
	return used;
}

/* Cuts scratch into all arrays of a pass; returns its bytes. */
static size_t cut(struct backward *backward, const struct linear_shape *shape,
		  int count, void *scratch)
{
	const size_t samples = (size_t)count, outputs = (size_t)shape->outputs;
	const size_t block = (size_t)shape->block * sizeof(float);
	size_t used = VEC_NAME(linear_cut_part)(&backward->outputs, shape,
						count, scratch);
	size_t words;

	backward->words = word_count(shape->outputs);
	words = samples * (size_t)backward->words;
	backward->of_samples =
		scratch_take(scratch, &used, words * sizeof(uint64_t));
	backward->by_sample = scratch_take(scratch, &used,
					   samples * outputs * sizeof(float));
	backward->sums =
		scratch_take(scratch, &used, outputs * sizeof(double));
	backward->bias =
		scratch_take(scratch, &used, outputs * sizeof(float));
	backward->kept = scratch_take(
		scratch, &used,
		(size_t)backward->outputs.chunks * sizeof(uint64_t));
	backward->gathered = scratch_take(scratch, &used, samples * block);
	backward->gathered_dx = scratch_take(
		scratch, &used,
		samples * block < NEAR_INPUTS ? samples * block : NEAR_INPUTS);
	return used;
}

size_t VEC_NAME(linear_backward_scratch)(const struct linear_shape *shape,
					 int count)
{
	struct backward backward;

	return cut(&backward, shape, count, NULL);
}

static void keep_dz(const struct backward *backward, int b, int o, float dz)
{
	const int outputs = backward->shape->outputs;
	const int chunks = backward->outputs.chunks;

	backward->by_sample[b * outputs + o] = dz;
	backward->outputs.values[o * chunks * WORD + b] = dz;
	backward->bias[o] += dz;
	backward->of_samples[b * backward->words + o / WORD] |=
		1ull << o % WORD;
	backward->outputs.samples[o * chunks + b / WORD] |= 1ull << b % WORD;
}

/* Adds a chunk's sums in double: floats would lose the last samples. */
static void add_chunk(const struct backward *backward)
{
	for (int o = 0; o < backward->shape->outputs; o++) {
		backward->sums[o] += (double)backward->bias[o];
		backward->bias[o] = 0;
	}
}

/* Computes dz, its bits and its sums. */
static void start(const struct backward *backward)
{
	const struct linear_batch *batch = backward->batch;
	const int outputs = backward->shape->outputs;

	memset(backward->of_samples, 0,
	       (size_t)(batch->count * backward->words) * sizeof(uint64_t));
	memset(backward->outputs.samples, 0,
	       (size_t)(outputs * backward->outputs.chunks) * sizeof(uint64_t));
	memset(backward->bias, 0, (size_t)outputs * sizeof(float));
	memset(backward->sums, 0, (size_t)outputs * sizeof(double));
	for (int b = 0; b < batch->count; b++) {
		const float *out = backward->flow->out + b * outputs;
		const float *dy = backward->flow->dy + b * outputs;

		for (int o = 0; o < outputs; o++) {
			if (dy[o] == 0 ||
			    (backward->shape->relu && out[o] <= 0) ||
			    (batch->keep_out &&
			     !batch->keep_out[b * outputs + o]))
				continue;
			keep_dz(backward, b, o, batch->scale * dy[o]);
		}
		if (b % WORD == WORD - 1)
			add_chunk(backward);
	}
	add_chunk(backward);
	for (int o = 0; o < outputs; o++)
		backward->bias[o] = (float)backward->sums[o];
}

/* Some rows in the computation of dx. */
struct in_pass {
	const struct backward *backward;
	struct words rows;
};

/*
 * Adds the rows' products to dx of the tile from place at on, for all samples.
 */
INLINE void dx_tile(const void *in_pass, int at, struct ahead *next,
		    int vectors, int rest)
{
	const struct in_pass *pass = in_pass;
	const struct backward *backward = pass->backward;
	const int block = pass->rows.block;
	const struct linear_shape *shape = backward->shape;
	const struct linear_batch *batch = backward->batch;
	struct ahead ahead = *next;

	for (int word = pass->rows.from; word < pass->rows.to; word++) {
		const float *rows =
			backward->weights +
			linear_weight_at(shape, word * WORD, block, at);

		for (int b = 0; b < batch->count; b++) {
			float *to = backward->flow->dx +
				    (size_t)b * batch->sample +
				    (size_t)block * batch->block + at;
			vec sums[TILE_MOST];

			if (!is_kept(batch, shape, b, block))
				continue;
			UNROLL
			for (int v = 0; v < vectors; v++)
				sums[v] = word ? tile_load(to + v * LANES,
							   rest) :
						 vec_set(0);
			add_rows(sums,
				 backward->by_sample + b * shape->outputs +
					 word * WORD,
				 rows, (size_t)shape->block,
				 backward->of_samples[b * backward->words +
						      word],
				 &ahead, vectors, rest);
			UNROLL
			for (int v = 0; v < vectors; v++)
				tile_store(to + v * LANES, sums[v], rest);
		}
	}
	*next = ahead;
}

/* Lists what dw of some rows reads or writes, except inputs. */
static void add_state(const struct backward *backward, struct words rows,
		      struct ahead *next)
{
	const size_t at = rows_at(backward->shape, rows);
	const size_t size = rows_weights(backward->shape, rows);

	if (backward->state)
		ahead_state(next, backward->state, at, size);
	else
		ahead_add(next, backward->gradient + at, size);
}

static void add_inputs(const struct backward *backward, int block,
		       struct ahead *next)
{
	const struct linear_shape *shape = backward->shape;
	const struct linear_batch *batch = backward->batch;
	const size_t inputs = (size_t)batch->count * (size_t)shape->block;
	const size_t at = (size_t)block * batch->block;

	if (!blocks_are_near(shape, batch))
		return;
	if (backward->flow->dx)
		ahead_add(next, backward->flow->dx + at, inputs);
	ahead_add(next, batch->in + at, inputs);
}

/* Returns what the next rows need first, to prefetch. The region added last is
 * fetched first. */
static struct ahead next_rows(const struct backward *backward,
			      struct words rows)
{
	const int more = rows.to < backward->words;
	const struct words next = rows_from(rows.block + !more,
					    more ? rows.to : 0,
					    backward->words);
	struct ahead ahead = { 0 };

	if (next.block == backward->shape->blocks)
		return ahead;
	if (!backward->flow->dx)
		add_state(backward, next, &ahead);
	if (!more)
		add_inputs(backward, next.block, &ahead);
	ahead_add(&ahead, backward->weights + rows_at(backward->shape, next),
		  rows_weights(backward->shape, next));
	return ahead;
}

/* Prefetches from next. */
static void dx_rows(const struct backward *backward, struct words rows,
		    struct ahead next)
{
	const struct in_pass pass = { backward, rows };

	walk_tiles(dx_tile, &pass, backward->shape->block, &next);
}

static void run_rows(const struct backward *backward, struct words rows,
		     const float *in)
{
	struct ahead next = next_rows(backward, rows);
	struct ahead state = { 0 };

	add_state(backward, rows, &state);
	if (backward->flow->dx)
		dx_rows(backward, rows, state);
	VEC_NAME(linear_weights)(backward, rows, in, &next);
}

/* Runs the pass, except for the bias. */
static void run(struct backward *backward)
{
	const int by_rows =
		rows_pay(backward->shape, backward->batch->count);

	start(backward);
	for (int block = 0; block < backward->shape->blocks; block++) {
		const float *in = gather_block(
			backward->shape, backward->batch, block,
			backward->outputs.chunks, backward->kept,
			backward->gathered);

		if (by_rows) {
			VEC_NAME(linear_rows_backward)(backward, block, in);
			continue;
		}
		for (int word = 0; word < backward->words; word += GROUP)
			run_rows(backward,
				 rows_from(block, word, backward->words), in);
	}
}

static void run_dx(const struct backward *backward)
{
	for (int block = 0; block < backward->shape->blocks; block++)
		for (int word = 0; word < backward->words; word += GROUP) {
			const struct words rows = rows_from(block, word,
							    backward->words);

			dx_rows(backward, rows, next_rows(backward, rows));
		}
}

void VEC_NAME(linear_backward)(const struct linear_shape *shape,
			       const struct linear_values *parameters,
			       const struct linear_batch *batch,
			       const struct linear_flow *flow,
			       const struct linear_values *gradient,
			       void *scratch)
{
	struct backward backward = {
		.shape = shape,
		.batch = batch,
		.flow = flow,
		.weights = parameters->weights,
	};

	cut(&backward, shape, batch->count, scratch);
	backward.gradient = gradient->weights;
	run(&backward);
	memcpy(gradient->bias, backward.bias,
	       (size_t)shape->outputs * sizeof(float));
}

void VEC_NAME(linear_backward_update)(const struct linear_shape *shape,
				      const struct linear_state *state,
				      const struct update *update,
				      const struct linear_batch *batch,
				      const struct linear_flow *flow,
				      void *scratch)
{
	struct backward backward = {
		.shape = shape,
		.batch = batch,
		.flow = flow,
		.weights = state->parameters.weights,
		.state = state,
		.rates = rates_of(update),
	};

	cut(&backward, shape, batch->count, scratch);
	run(&backward);
	ISA_NAME(optimize)(update, (size_t)shape->outputs,
			   state->parameters.bias, state->first.bias,
			   state->second.bias, backward.bias);
}

void VEC_NAME(linear_backward_part)(const struct linear_shape *shape,
				    const struct linear_values *parameters,
				    const struct linear_batch *batch,
				    const struct linear_flow *flow,
				    float *bias, void *part, void *scratch)
{
	struct backward backward = {
		.shape = shape,
		.batch = batch,
		.flow = flow,
		.weights = parameters->weights,
	};

	cut(&backward, shape, batch->count, scratch);
	VEC_NAME(linear_cut_part)(&backward.outputs, shape, batch->count, part);
	start(&backward);
	if (flow->dx)
		run_dx(&backward);
	memcpy(bias, backward.bias, (size_t)shape->outputs * sizeof(float));
}
