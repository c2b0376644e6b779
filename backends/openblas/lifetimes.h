/*
 * Where the outputs of a graph's rows lie, and the gradients of the loss by
 * them: in one allocation, in which a place is used again once the last row
 * that reads it is done.
 *
 * Rows go forward one after the other, then backward in the opposite order. An
 * output is needed until its last reader is done, which for a convolution, a
 * linear layer and batch norm is on the way back. The others can work in place:
 * forward where no row reads their input any more, backward always.
 */
#ifndef BACKENDS_OPENBLAS_LIFETIMES_H
#define BACKENDS_OPENBLAS_LIFETIMES_H

#include "backends/contract/graph.h"

struct lifetimes {
	/* Bytes from the start; the same for rows that work in place. */
	size_t outputs[MODEL_MAX_LAYERS];
	size_t gradients[MODEL_MAX_LAYERS]; /* where they are wanted */
	size_t bytes;  /* of all */
	size_t unshared; /* if each had a place of its own */
};

/* For count samples of numbers of size bytes. */
void lifetimes_plan(struct lifetimes *lifetimes, const struct graph *graph,
		    int count, size_t size);

#endif
