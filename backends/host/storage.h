/*
 * Precisions that round numbers when they are stored. Computation in between is
 * as in fp32, sums included.
 *
 * fp16 is mixed precision of PyTorch's apex at level O1. Convolutions and
 * linear layers read and write fp16. Batch norm, ReLU, pooling and dropout
 * write the format that they read; an addition writes fp16 if both inputs are
 * fp16. The loss, parameters, their complete gradient and the optimizer are
 * fp32.
 *
 * bf16-storage is PyTorch/XLA's XLA_USE_BF16: everything that is stored is
 * bf16, including parameters, the optimizer's state and running statistics.
 *
 * Stored numbers occupy the memory of fp32; only their values are the format's.
 */
#ifndef BACKENDS_HOST_STORAGE_H
#define BACKENDS_HOST_STORAGE_H

#include "backends/contract/program.h"
#include "backends/contract/graph.h"

/* Rounds to the format's nearest number, ties to even; beyond the largest, to
 * infinity. Precisions without a format change nothing. */
void storage_round(enum precision precision, float *values, size_t count);
void storage_round_double(enum precision precision, double *values,
			  size_t count);

/* Rows of a graph, and images, whose values and gradients are rounded. Inputs
 * of convolutions and linear layers are. */
struct storage {
	enum precision precision;
	unsigned char images, values[MODEL_MAX_LAYERS];
};

void storage_resolve(struct storage *storage, const struct graph *graph,
		     enum precision precision);
static inline int storage_rounds(const struct storage *storage, int row)
{
	return row == MODEL_IMAGES ? storage->images : storage->values[row];
}

/* Returns 1 if a layer computes with rounded parameters and rounds their
 * gradient. */
int storage_rounds_layer(enum precision precision, const struct layer *layer);
/* Returns 1 if the vectors themselves are rounded. */
int storage_rounds_vectors(enum precision precision);

/* Returns the factor by which the loss, and so the gradient, is scaled. */
static inline double storage_loss_scale(const struct batch *batch)
{
	return batch->loss_scale > 0 ? batch->loss_scale : 1;
}

#endif
