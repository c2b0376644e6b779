/* What the two ways of a linear layer's forward pass share. */
#ifndef BACKENDS_CPU_KERNELS_LINEAR_FORWARD_H
#define BACKENDS_CPU_KERNELS_LINEAR_FORWARD_H

#include "backends/cpu/kernels/linear_kernels.h"

struct forward {
	const struct linear_shape *shape;
	const struct linear_batch *batch;
	const float *weights;
	int words;	  /* of the bits of a sample */
	uint64_t *needed; /* [count][words]: outputs of a sample */
	uint32_t *places; /* [count][words]: vectors of sums before them */
	float *sums;	  /* [..][FOLD][LANES / FOLD]: of FOLD needed outputs */
};

/* All products, where every output is needed. */
void ISA_NAME(linear_dense)(const struct forward *forward);

#endif
