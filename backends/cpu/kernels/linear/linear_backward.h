/* What the files of a linear layer's backward pass have in common. */
#ifndef BACKENDS_CPU_KERNELS_LINEAR_LINEAR_BACKWARD_H
#define BACKENDS_CPU_KERNELS_LINEAR_LINEAR_BACKWARD_H

#include "backends/cpu/kernels/linear/linear_kernels.h"
#include "backends/cpu/kernels/elementwise/optimizer.h"

/* dz of a batch by outputs, from which dw is derived. */
struct output_gradients {
	int chunks;	   /* of 64 samples: words of bits of an output */
	uint64_t *samples; /* [outputs][chunks]: whose dz is not 0 */
	float *values;	   /* dz[outputs][chunks * WORD] */
};

struct backward {
	const struct linear_shape *shape;
	const struct linear_batch *batch;
	const struct linear_flow *flow;
	const float *weights;
	const struct linear_state *state; /* NULL: dw is stored */
	struct rates rates;
	int words;	       /* of bits of a sample */
	uint64_t *of_samples;  /* [count][words]: outputs */
	float *by_sample;      /* dz[count][outputs] */
	struct output_gradients outputs;
	double *sums;	       /* [outputs]: sums of dz over chunks */
	float *bias;	       /* [outputs]: of one chunk, at the end of all */
	uint64_t *kept;	       /* [outputs.chunks]: samples that keep a block */
	float *gathered;       /* [count][block]: inputs in a block */
	float *gathered_dx;    /* [count][block]: dx of it, where rows_pay() */
	float *gradient;       /* dw, if it is stored */
};

INLINE int is_kept(const struct linear_batch *batch,
		   const struct linear_shape *shape, int b, int block)
{
	return !batch->keep_in || batch->keep_in[b * shape->blocks + block];
}

/*
 * Inputs of a block, sample by sample, as neighbours: where they are, or copied
 * to gathered, [count][block]. kept[chunks] becomes the samples that have some.
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

/* Chunks whose sum is added as one: floats that take more lose the last. */
#define SUMMED 16

/* Sums SUMMED chunks, or all that are left, for sum_tile(). */
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
 * A tile of dw[o]: the sums over what output o has of samples that keep the
 * block. Their inputs in it are rows of stride floats, from the tile's first
 * place on.
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

/* What an update of so many weights from place at on needs besides them. */
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

/* A step of the optimizer on a tile of weights, from dw. ahead, unless NULL, is
 * fetched meanwhile. */
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

/* What is done with the tile from place at on; vectors is a constant once this
 * is inlined, and rest is, but for the last tile. */
typedef void tile_pass(const void *pass, int at, struct ahead *next,
		       int vectors, int rest);

/* All tiles of a block of so many places. */
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

/*
 * Cuts part into what is in outputs, of count samples; NULL: only counts.
 * Returns the bytes that this takes.
 */
size_t VEC_NAME(linear_cut_part)(struct output_gradients *outputs,
				 const struct linear_shape *shape, int count,
				 void *part);

/*
 * dw of some rows: stored, or given to the optimizer at once. in has the inputs
 * in their block, of all samples, as neighbours. next is fetched meanwhile.
 */
void VEC_NAME(linear_weights)(const struct backward *backward,
			      struct words rows, const float *in,
			      struct ahead *next);

/* The same of all rows of a block, and its dx, where rows_pay(). */
void VEC_NAME(linear_rows_backward)(const struct backward *backward, int block,
				    const float *in);

#endif
