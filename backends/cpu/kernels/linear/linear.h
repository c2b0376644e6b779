/*
 * A linear layer with dropout's structure, fused with ReLU, dropout and the
 * optimizer:
 *
 *   out = dropout(ReLU(weights in + bias))
 *
 * Inputs come in blocks, the planes of the layer before. If dropout took a
 * plane, its block is not read, and its dx is not written. Outputs that dropout
 * takes are known before and are not computed. Gradients of 0 are skipped. Work
 * is thus in proportion to kept blocks and kept outputs, and backward to
 * gradients that are not 0.
 *
 * Post 002's network has 64 blocks of 144 and 128 outputs, then 1 block of 128
 * and 10 outputs.
 *
 * Weights, their gradients and the optimizer's state are laid out as
 * [block][output][place], so that all three passes read and write whole rows of
 * places. linear_weight_at() maps a flat parameter to its place.
 */
#ifndef BACKENDS_CPU_KERNELS_LINEAR_LINEAR_H
#define BACKENDS_CPU_KERNELS_LINEAR_LINEAR_H

#include <stddef.h>
#include <stdint.h>

#include "backends/contract/program.h"

struct linear_shape {
	int blocks;
	int block; /* inputs of a block */
	int outputs;
	int relu;
	/* 1 = forward may round factors to bf16; the CPU supports it. */
	int bf16;
};

static inline size_t linear_inputs(const struct linear_shape *shape)
{
	return (size_t)shape->blocks * (size_t)shape->block;
}

/* Returns the offset of the weight between an output and input number place of
 * a block. */
static inline size_t linear_weight_at(const struct linear_shape *shape,
				      int output, int block, int place)
{
	return ((size_t)block * (size_t)shape->outputs + (size_t)output) *
		       (size_t)shape->block +
	       (size_t)place;
}

/*
 * Samples of a call. Input i of block c of sample b is in[b * sample + c *
 * block + i]; kept blocks are already scaled. [blocks][count][block] is faster
 * than [count][blocks][block]: a block's inputs of all samples are in few
 * pages.
 */
struct linear_batch {
	int count;
	const float *in;
	/* floats from sample to sample and from block to block */
	size_t sample, block;
	const uint8_t *keep_in;	 /* [count][blocks]; NULL = no dropout */
	const uint8_t *keep_out; /* [count][outputs]; NULL = no dropout */
	float scale; /* factor of kept outputs: 1 / (1 - drop), or 1 */
};

/* Gradients of the loss: input and output of a backward pass. */
struct linear_flow {
	const float *out;	 /* [count][outputs], forward's output */
	const float *dy;	 /* [count][outputs], gradient of out */
	float *dx; /* laid out as the batch's in; NULL = not computed */
};

/* One value per parameter: a vector of enum VECTOR_*. */
struct linear_values {
	float *weights; /* [blocks][outputs][block] */
	float *bias;	/* [outputs] */
};

/* Parameters and the optimizer's state, in the order of models/recipe.h.
 * Members that the optimizer does not use are NULL. */
struct linear_state {
	struct linear_values parameters, first, second;
};

/* One rank's data from which the weight gradient is computed. */
struct linear_part {
	struct linear_batch batch; /* in, sample, block and keep_in are read */
	void *dz; /* output of backward_part(); only read */
};

struct linear_kernels {
	const char *name; /* of the instruction set */

	/* Returns the bytes of scratch, aligned to 64, for count samples. */
	size_t (*scratch)(const struct linear_shape *shape, int count);

	/*
	 * Returns 1 if forward multiplies each input of a kept block for all
	 * outputs, 0 if only for kept outputs. Backward multiplies only for dy
	 * that are not 0.
	 */
	int (*forward_is_dense)(const struct linear_shape *shape, int count);

	/* Stores out[count][outputs]: scale * ReLU (if shape->relu) where kept,
	 * else 0. A NaN remains one. */
	void (*forward)(const struct linear_shape *shape,
			const struct linear_values *parameters,
			const struct linear_batch *batch, float *out,
			void *scratch);

	/* Stores dx, and the gradient of the parameters in gradient. */
	void (*backward)(const struct linear_shape *shape,
			 const struct linear_values *parameters,
			 const struct linear_batch *batch,
			 const struct linear_flow *flow,
			 const struct linear_values *gradient, void *scratch);

	/*
	 * Runs the backward pass and a step of the optimizer in one; the
	 * gradient is not stored. dx is computed with the parameters before the
	 * step.
	 */
	void (*backward_update)(const struct linear_shape *shape,
				const struct linear_state *state,
				const struct update *update,
				const struct linear_batch *batch,
				const struct linear_flow *flow,
				void *scratch);

	/*
	 * backward_update() in two calls, for a batch in parts. backward_part()
	 * stores dx and the bias gradient, and leaves in part what
	 * update_parts() needs. update_parts() makes the optimizer's step of
	 * blocks from .. to - 1. It sums their weight gradient over each part
	 * as backward() does, then over parts in order, to the same bits.
	 *
	 * part_size() returns the bytes of a part of count samples, aligned to
	 * 64. update_scratch() returns the bytes of update_parts()'s scratch,
	 * for parts of at most count samples.
	 */
	size_t (*part_size)(const struct linear_shape *shape, int count);
	size_t (*update_scratch)(const struct linear_shape *shape, int parts,
				 int count);
	void (*backward_part)(const struct linear_shape *shape,
			      const struct linear_values *parameters,
			      const struct linear_batch *batch,
			      const struct linear_flow *flow, float *bias,
			      void *part, void *scratch);
	void (*update_parts)(const struct linear_shape *shape,
			     const struct linear_state *state,
			     const struct update *update,
			     const struct linear_part *parts, int count,
			     int from, int to, void *scratch);

	/*
	 * Makes a step of the optimizer for count parameters p, within 1e-6 of
	 * each change. first and second are its state, as in struct
	 * linear_state. Gradients must be below 1e19, so that their squares are
	 * finite; a NaN remains one.
	 */
	void (*optimize)(const struct update *update, size_t count, float *p,
			 float *first, float *second, const float *gradient);
};

/* Processors other than x86-64 have only the portable ones. */
extern const struct linear_kernels linear_kernels_amx;
extern const struct linear_kernels linear_kernels_avx512;
extern const struct linear_kernels linear_kernels_avx2;
extern const struct linear_kernels linear_kernels_portable;

#endif
