/*
 * A linear layer with what surrounds it, as one step:
 *
 *   out = dropout(ReLU(weights in + bias))
 *
 * Its inputs come in blocks, the planes of the layer before, which dropout may
 * have taken as a whole: such a block is not read, and its dx is not
 * written. What dropout takes of the outputs is known before, so that they are
 * not computed either, and gradients that are zero add nothing.
 *
 * The network of post 002 has 64 blocks of 144 and 128 outputs, then 1 block
 * of 128 and 10 outputs. Work is in proportion to the blocks that are kept and
 * to the outputs that are; backward, to the gradients that are not zero.
 *
 * Weights, and whatever there is one of for each weight, are laid out as
 * [block][output][place]. All three passes read and write whole rows of places
 * then; linear_weight_at() says where a flat parameter lives.
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
	/* Forward's products may round their factors to bf16, for which this
	 * CPU has instructions. */
	int bf16;
};

static inline size_t linear_inputs(const struct linear_shape *shape)
{
	return (size_t)shape->blocks * (size_t)shape->block;
}

/* Place of the weight between an output and input number place of a block. */
static inline size_t linear_weight_at(const struct linear_shape *shape,
				      int output, int block, int place)
{
	return ((size_t)block * (size_t)shape->outputs + (size_t)output) *
		       (size_t)shape->block +
	       (size_t)place;
}

/*
 * Input i of block c of sample b is in[b * sample + c * block + i]; blocks that
 * are kept are scaled already. Faster than [count][blocks][block] is
 * [blocks][count][block]: a block's inputs of all samples are in few pages.
 */
struct linear_batch {
	int count;
	const float *in;
	size_t sample, block; /* floats from one to the next */
	const uint8_t *keep_in;	 /* [count][blocks]; NULL: none is dropped */
	const uint8_t *keep_out; /* [count][outputs]; NULL: none is dropped */
	float scale; /* of outputs that are kept: 1 / (1 - drop), or 1 */
};

/* What a backward pass starts from, and what the layer before gets: gradients
 * of the loss. */
struct linear_flow {
	const float *out;	 /* [count][outputs], as forward left it */
	const float *dy;	 /* [count][outputs], by out */
	float *dx;		 /* as the batch's in; NULL: not wanted */
};

/* One of the vectors of VECTOR_*. */
struct linear_values {
	float *weights; /* [blocks][outputs][block] */
	float *bias;	/* [outputs] */
};

/* Parameters and the optimizer's state of them, in the order of
 * models/recipe.h; what it does not have is NULL. */
struct linear_state {
	struct linear_values parameters, first, second;
};

/* What the weight gradient is derived from, of the samples of one rank. */
struct linear_part {
	struct linear_batch batch; /* its in, sample, block and keep_in */
	void *dz; /* as backward_part left them; only read */
};

struct linear_kernels {
	const char *name; /* of the instruction set */

	/* Bytes of scratch, aligned to 64, for a batch of count. */
	size_t (*scratch)(const struct linear_shape *shape, int count);

	/*
	 * Whether forward multiplies each input of a block that is kept for
	 * all outputs, for a batch of count; drops: it has keep_in or
	 * keep_out. Else it does so for outputs that are kept. Backward
	 * multiplies for dy that are not 0.
	 */
	int (*forward_is_dense)(const struct linear_shape *shape, int count,
				int drops);

	/*
	 * out[count][outputs]: scale * ReLU (if shape says so) where kept, 0
	 * elsewhere. A NaN stays one.
	 */
	void (*forward)(const struct linear_shape *shape,
			const struct linear_values *parameters,
			const struct linear_batch *batch, float *out,
			void *scratch);

	/* Stores dx, and the gradient by the parameters in gradient. */
	void (*backward)(const struct linear_shape *shape,
			 const struct linear_values *parameters,
			 const struct linear_batch *batch,
			 const struct linear_flow *flow,
			 const struct linear_values *gradient, void *scratch);

	/*
	 * The same, and a step of the optimizer at once: the gradient is
	 * nowhere stored. dx is that of the parameters before.
	 */
	void (*backward_update)(const struct linear_shape *shape,
				const struct linear_state *state,
				const struct update *update,
				const struct linear_batch *batch,
				const struct linear_flow *flow,
				void *scratch);

	/*
	 * The same in two calls, of a batch that is in parts; the second one
	 * for some of the blocks, or all. part_size is the bytes of
	 * what the first leaves of a part, aligned to 64, and update_scratch
	 * those of the second one's scratch, for so many parts of
	 * count samples at most.
	 *
	 * backward_part stores dx and the bias gradient. Then update_parts
	 * makes the optimizer's step of blocks from .. to: their weight
	 * gradient is summed over each part as backward does, then over parts
	 * in their order, to the same bits.
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
	 * A step of the optimizer for count parameters p, within 1e-6 of each
	 * change; first and second are its state, as in struct linear_state.
	 * Gradients are below 1e19, so that their squares are finite; a NaN
	 * stays one.
	 */
	void (*optimize)(const struct update *update, size_t count, float *p,
			 float *first, float *second, const float *gradient);
};

/* Those of other processors than x86-64 are the portable ones alone. */
extern const struct linear_kernels linear_kernels_amx;
extern const struct linear_kernels linear_kernels_avx512;
extern const struct linear_kernels linear_kernels_avx2;
extern const struct linear_kernels linear_kernels_portable;

#endif
