/*
 * Memory of the outputs of a graph's steps and of their gradients, in one
 * allocation. A place is reused after the last step that reads it.
 *
 * Steps run forward one after the other, then backward in reverse. An output is
 * needed until its last reader has run; convolutions, linear layers and batch
 * norm read it in backward. Other steps may work in place: forward if no later
 * step reads their input, backward always.
 *
 * A step with a convolution and an addition may find the addend in the place of
 * its output, unless it convolves the addend. It must add to it.
 */
#ifndef BACKENDS_HOST_LIFETIMES_H
#define BACKENDS_HOST_LIFETIMES_H

#include <stdint.h>

#include "backends/contract/graph.h"

#define LIFETIMES_NONE SIZE_MAX

/* A run of rows; other steps read only the last one's output. */
struct lifetime_step {
	int first, last;
	size_t output, gradient; /* bytes of the output, and of its gradient */
	int apart; /* 1 = both have places that nothing else ever uses */
};

struct lifetimes {
	/* Byte offsets, by the last row of each step; equal for steps that work
	 * in place. LIFETIMES_NONE = the gradient is not needed. */
	size_t outputs[MODEL_MAX_LAYERS];
	size_t gradients[MODEL_MAX_LAYERS];
	size_t bytes;  /* of the allocation */
	size_t unshared; /* bytes if each had a place of its own */
};

enum {
	LIFETIMES_FORWARD = 1, /* there is no backward pass */
	LIFETIMES_RELU_SEES = 2, /* backward, ReLU reads its output */
};

/* Plans count steps; the loss is the row after them, and not among them. how is
 * a set of LIFETIMES_ flags. */
void lifetimes_plan(struct lifetimes *lifetimes, const struct graph *graph,
		    const struct lifetime_step *steps, int count,
		    unsigned how);

#endif
