/* What the two ways of a linear layer's forward pass share. */
#ifndef BACKENDS_CPU_KERNELS_LINEAR_LINEAR_FORWARD_H
#define BACKENDS_CPU_KERNELS_LINEAR_LINEAR_FORWARD_H

#include "backends/cpu/kernels/linear/linear_kernels.h"

struct forward {
	const struct linear_shape *shape;
	const struct linear_batch *batch;
	const float *weights;
	int words;	  /* of the bits of a sample */
	uint64_t *needed; /* [count][words]: outputs of a sample */
	uint32_t *places; /* [count][words]: vectors of sums before them */
	float *sums;	  /* [..][FOLD][LANES / FOLD]: of FOLD needed outputs */
};

/* The sum of output number i of those that share the vectors from sums on. */
INLINE float sum_of(const float *sums, int i)
{
	float sum = 0;

	for (int lane = 0; lane < LANES / FOLD; lane++)
		sum += sums[i * (LANES / FOLD) + lane];
	return sum;
}

/* All products, where every output is needed. */
void VEC_NAME(linear_dense)(const struct forward *forward);

/* With more samples an output than this, what reuses inputs too is faster. */
#define FEW_SAMPLES (LANES < 16 ? 5 : 10)

/* All of linear_forward, where rows_pay() and no input is dropped. */
size_t VEC_NAME(linear_rows_scratch)(const struct linear_shape *shape,
				     int count);
void VEC_NAME(linear_rows)(const struct linear_shape *shape,
			   const struct linear_values *parameters,
			   const struct linear_batch *batch, float *out,
			   void *scratch);

/* The same with factors rounded to bf16, where linear_forward_is_dense() and
 * no input is dropped. */
size_t ISA_NAME(linear_forward_bf16_scratch)(const struct linear_shape *shape,
					     int count);
void ISA_NAME(linear_forward_bf16)(const struct linear_shape *shape,
				   const struct linear_values *parameters,
				   const struct linear_batch *batch, float *out,
				   void *scratch);

#endif
