/*
 * Where the outputs of a graph's steps lie, and the gradients of the loss by
 * them: in one allocation, in which a place is used again once the last step
 * that reads it is done.
 *
 * Steps go forward one after the other, then backward in the opposite order. An
 * output is needed until its last reader is done, which for a convolution, a
 * linear layer and batch norm is on the way back. The others can work in place:
 * forward where no step reads their input any more, backward always.
 *
 * A step that begins with a convolution and has an addition may find the other
 * input where its output goes, unless it convolves that: it has to add to it.
 */
#ifndef BACKENDS_HOST_LIFETIMES_H
#define BACKENDS_HOST_LIFETIMES_H

#include <stdint.h>

#include "backends/contract/graph.h"

#define LIFETIMES_NONE SIZE_MAX

/* Rows of which others read the last one's output alone. */
struct lifetime_step {
	int first, last;
	size_t output, gradient; /* bytes of that, and of the gradient by it */
	int apart; /* both have a place that nothing else uses at any time */
};

struct lifetimes {
	/* Bytes from the start, by the last row of each step; the same for
	 * steps that work in place. LIFETIMES_NONE: a gradient that is not
	 * wanted. */
	size_t outputs[MODEL_MAX_LAYERS];
	size_t gradients[MODEL_MAX_LAYERS];
	size_t bytes;  /* of all */
	size_t unshared; /* if each had a place of its own */
};

enum {
	LIFETIMES_FORWARD = 1, /* there is no way back */
	LIFETIMES_RELU_SEES = 2, /* backward, ReLU reads what it put out */
};

/* Of count steps, without the loss, which is the row behind them. */
void lifetimes_plan(struct lifetimes *lifetimes, const struct graph *graph,
		    const struct lifetime_step *steps, int count,
		    unsigned how);

#endif
