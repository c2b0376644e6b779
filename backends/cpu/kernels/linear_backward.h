/* What the two halves of a linear layer's backward pass share. */
#ifndef BACKENDS_CPU_KERNELS_LINEAR_BACKWARD_H
#define BACKENDS_CPU_KERNELS_LINEAR_BACKWARD_H

#include "backends/cpu/kernels/adadelta.h"
#include "backends/cpu/kernels/linear_kernels.h"

struct backward {
	const struct linear_shape *shape;
	const struct linear_batch *batch;
	const struct linear_slopes *slopes;
	const float *weights;
	const struct linear_state *state; /* NULL: dw is stored */
	struct adadelta rates;
	int words;	       /* of bits of a sample */
	int chunks;	       /* of 64 samples: words of bits of an output */
	uint64_t *of_samples;  /* [count][words]: outputs */
	uint64_t *of_outputs;  /* [outputs][chunks]: samples */
	float *by_sample;      /* dz[count][outputs] */
	float *by_output;      /* dz[outputs][chunks * WORD] */
	float *bias;	       /* [outputs]: sums of dz */
	uint64_t *kept;	       /* [chunks]: samples that keep a block */
	float *gathered;       /* [count][block]: inputs in a block */
	float *gradient;       /* dw, if it is stored */
};

INLINE int is_kept(const struct linear_batch *batch,
		   const struct linear_shape *shape, int b, int block)
{
	return !batch->keep_in || batch->keep_in[b * shape->blocks + block];
}

/* sums += sum over bits i of slopes[i] rows[i], over one tile */
INLINE void add_rows(vec *sums, const float *slopes, const float *rows,
		     size_t stride, uint64_t bits, struct ahead *ahead,
		     int vectors, int rest)
{
	for (; bits; bits &= bits - 1) {
		const size_t i = (size_t)__builtin_ctzll(bits);
		const float *row = row_at(rows, i, stride);
		const vec slope = vec_set(slopes[i]);

		ahead_fetch(ahead);
		UNROLL
		for (int v = 0; v < vectors; v++)
			sums[v] += slope * tile_load(row + v * LANES, rest);
	}
}

/*
 * Cuts part into of_outputs and by_output of count samples; NULL: only counts.
 * Returns the bytes that they take.
 */
size_t ISA_NAME(linear_cut_part)(struct backward *backward,
				 const struct linear_shape *shape, int count,
				 void *part);

/*
 * dw of a block: stored, or given to Adadelta at once. next is fetched
 * meanwhile.
 */
void ISA_NAME(linear_weights)(const struct backward *backward, int block,
			      struct ahead *next);

#endif
