/* Shared by the files of a linear layer's backward pass. */
#ifndef BACKENDS_CPU_KERNELS_LINEAR_LINEAR_BACKWARD_H
#define BACKENDS_CPU_KERNELS_LINEAR_LINEAR_BACKWARD_H

#include "backends/cpu/kernels/linear/linear_kernels.h"
#include "backends/cpu/kernels/elementwise/optimizer.h"

/* dz of a batch by output, from which dw is computed. */
struct output_gradients {
	int chunks;	   /* of 64 samples: words of bits per output */
	uint64_t *samples; /* [outputs][chunks]: samples with dz != 0 */
	float *values;	   /* dz[outputs][chunks * WORD] */
};

struct backward {
	const struct linear_shape *shape;
	const struct linear_batch *batch;
	const struct linear_flow *flow;
	const float *weights;
	const struct linear_state *state; /* NULL = dw is stored */
	struct rates rates;
	int words;	       /* words of bits per sample */
	uint64_t *of_samples;  /* [count][words]: outputs with dz != 0 */
	float *by_sample;      /* dz[count][outputs] */
	struct output_gradients outputs;
	double *sums;	       /* [outputs]: sums of dz over chunks */
	float *bias; /* [outputs]: sum of a chunk, in the end of all */
	uint64_t *kept; /* [outputs.chunks]: samples that keep the block */
	float *gathered;       /* [count][block]: inputs of the block */
	float *gathered_dx; /* [count][block]: dx of the block, if rows_pay() */
	float *gradient;       /* dw, if it is stored */
};

INLINE int is_kept(const struct linear_batch *batch,
		   const struct linear_shape *shape, int b, int block)
{
	return !batch->keep_in || batch->keep_in[b * shape->blocks + block];
}

/*
 * Returns a block's inputs, [count][block]: in place if they are contiguous,
 * else copied to gathered. Sets kept[chunks] to the samples that keep the
 * block.
 */
INLINE const float *gather_block(const struct linear_shape *shape,
				 const struct linear_batch *batch, int block,
				 int chunks, uint64_t *kept, float *gathered)
{
	const size_t stride = (size_t)shape->block;
	const int near = blocks_are_near(shape, batch);
	const float *in = batch->in + (size_t)block * batch->block;

	memset(kept, 0, (size_t)chunks * sizeof(uint64_t));
	for (int b = 0; b < batch->count; b++) {
		if (!is_kept(batch, shape, b, block))
			continue;
		kept[b / WORD] |= 1ull << b % WORD;
		if (!near)
			memcpy(gathered + (size_t)b * stride,
			       in + (size_t)b * batch->sample,
			       stride * sizeof(float));
	}
	return near ? in : gathered;
}

/* sums += sum over bits i of factors[i] rows[i], over one tile */
INLINE void add_rows(vec *sums, const float *factors, const float *rows,
		     size_t stride, uint64_t bits, struct ahead *ahead,
		     int vectors, int rest)
{
	for (; bits; bits &= bits - 1) {
		const size_t i = (size_t)__builtin_ctzll(bits);
		const float *row = row_at(rows, i, stride);
		const vec factor = vec_set(factors[i]);

		ahead_fetch(ahead);
		UNROLL
		for (int v = 0; v < vectors; v++)
			sums[v] += factor * tile_load(row + v * LANES, rest);
	}
}

/* chunks per float sum: longer sums lose their last digits. */
#define SUMMED 16

/* Sums SUMMED chunks, or all that remain, for sum_tile(). */
INLINE void sum_chunks(const struct output_gradients *outputs, int o,
		       const uint64_t *kept, const float *rows, size_t stride,
		       int from, vec *sums, struct ahead *ahead, int vectors,
		       int rest)
{
	const int left = outputs->chunks - from;
	const int to = from + (left < SUMMED ? left : SUMMED);

	UNROLL
	for (int v = 0; v < vectors; v++)
		sums[v] = vec_set(0);
	for (int chunk = from; chunk < to; chunk++) {
		const int word = o * outputs->chunks + chunk;

		add_rows(sums, outputs->values + word * WORD,
			 rows + (size_t)chunk * WORD * stride, stride,
			 outputs->samples[word] & kept[chunk], ahead, vectors,
			 rest);
	}
}

/*
 * Computes a tile of dw[o]: the sum over samples that keep the block and have
 * dz[o] != 0. rows has their inputs, from the tile's first place on, stride
 * floats from sample to sample.
 */
INLINE void sum_tile(const struct output_gradients *outputs, int o,
		     const uint64_t *kept, const float *rows, size_t stride,
		     vec *sums, struct ahead *ahead, int vectors, int rest)
{
	sum_chunks(outputs, o, kept, rows, stride, 0, sums, ahead, vectors,
		   rest);
	for (int from = SUMMED; from < outputs->chunks; from += SUMMED) {
		vec more[TILE_MOST];

		sum_chunks(outputs, o, kept, rows, stride, from, more, ahead,
			   vectors, rest);
		UNROLL
		for (int v = 0; v < vectors; v++)
			sums[v] += more[v];
	}
}

/* Lists the optimizer's state of size weights from at on, to prefetch. */
INLINE void ahead_state(struct ahead *ahead, const struct linear_state *state,
			size_t at, size_t size)
{
	if (state->second.weights)
		ahead_add(ahead, state->second.weights + at, size);
	if (state->first.weights)
		ahead_add(ahead, state->first.weights + at, size);
}

/* optimizer is a constant. */
INLINE void step_tile(const struct linear_state *state,
		      const struct rates *rates, enum optimizer optimizer,
		      size_t at, const vec *dw, struct ahead *ahead,
		      int vectors, int rest)
{
	UNROLL
	for (int v = 0; v < vectors; v++, at += LANES) {
		if (ahead)
			ahead_fetch(ahead);
		step_vector(rates, optimizer, dw[v],
			    state->parameters.weights, state->first.weights,
			    state->second.weights, at, rest);
	}
}

/* Makes a step of the optimizer on a tile of weights, from dw. Meanwhile
 * prefetches from ahead, unless it is NULL. */
INLINE void update_tile(const struct linear_state *state,
			const struct rates *rates, size_t at, const vec *dw,
			struct ahead *ahead, int vectors, int rest)
{
	switch (rates->optimizer) {
	case OPTIMIZER_ADAM:
		step_tile(state, rates, OPTIMIZER_ADAM, at, dw, ahead, vectors,
			  rest);
		break;
	case OPTIMIZER_SGD:
		step_tile(state, rates, OPTIMIZER_SGD, at, dw, ahead, vectors,
			  rest);
		break;
	default:
		step_tile(state, rates, OPTIMIZER_ADADELTA, at, dw, ahead,
			  vectors, rest);
	}
}

/* Processes the tile from place at on. Once inlined, vectors is a constant, and
 * so is rest except in the last tile. */
typedef void tile_pass(const void *pass, int at, struct ahead *next,
		       int vectors, int rest);

/* Calls do_tile for all tiles of a block. */
INLINE void walk_tiles(tile_pass *do_tile, const void *pass, int places,
		       struct ahead *next)
{
	for (int at = 0; at < places;) {
		const int vectors = tile_vectors(places - at);

		switch (vectors) {
		case 9:
			do_tile(pass, at, next, 9, 0);
			break;
		case 8:
			do_tile(pass, at, next, 8, 0);
			break;
		case 4:
			do_tile(pass, at, next, 4, 0);
			break;
		case 1:
			do_tile(pass, at, next, 1, 0);
			break;
		default:
			do_tile(pass, at, next, 1, places - at);
			return;
		}
		at += vectors * LANES;
	}
}

/* Cuts part into the arrays of outputs, for count samples; NULL only counts.
 * Returns the bytes. */
size_t VEC_NAME(linear_cut_part)(struct output_gradients *outputs,
				 const struct linear_shape *shape, int count,
				 void *part);

/* Computes dw of some rows, and stores it or makes the optimizer's step with
 * it. in has the block's inputs, contiguous. Prefetches from next. */
void VEC_NAME(linear_weights)(const struct backward *backward,
			      struct words rows, const float *in,
			      struct ahead *next);

/*
 * Does the same for all rows of a block, and computes its dx; for rows_pay().
 */
void VEC_NAME(linear_rows_backward)(const struct backward *backward, int block,
				    const float *in);

#endif
