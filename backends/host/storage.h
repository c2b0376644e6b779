/*
 * Precisions that round numbers where they are stored. In between they are
 * computed with as in fp32, whose sums they keep.
 *
 * fp16 is mixed precision of PyTorch's apex at level O1: convolutions and
 * linear layers take fp16 and give it; batch norm, ReLU, pooling and dropout
 * give what they take; an addition gives fp16 where both inputs are. The loss,
 * parameters, their gradient once it is there, and the optimizer are fp32.
 *
 * bf16-storage is PyTorch/XLA's XLA_USE_BF16: whatever is stored is bf16,
 * parameters, the optimizer's state and running statistics too.
 *
 * What a program keeps has the room of fp32: only its values are those of the
 * format.
 */
#ifndef BACKENDS_HOST_STORAGE_H
#define BACKENDS_HOST_STORAGE_H

#include "backends/contract/program.h"
#include "backends/contract/graph.h"

/* Rounds to the nearest number of the format, to even between two; to infinity
 * what is beyond the largest. Precisions without a format change nothing. */
void storage_round(enum precision precision, float *values, size_t count);
void storage_round_double(enum precision precision, double *values,
			  size_t count);

/* Which values of a graph are rounded, and so the gradient by them: what rows
 * give, and the images. What a convolution or a linear layer reads is. */
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

/* Whether a layer computes with rounded parameters, and its gradient by them is
 * rounded. */
int storage_rounds_layer(enum precision precision, const struct layer *layer);
/* Whether the vectors themselves are rounded. */
int storage_rounds_vectors(enum precision precision);

/* What the gradient is of: the loss times that. */
static inline double storage_loss_scale(const struct batch *batch)
{
	return batch->loss_scale > 0 ? batch->loss_scale : 1;
}

#endif
