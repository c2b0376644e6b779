/* Shared by the kernels of a linear layer's forward pass. */
#ifndef BACKENDS_CPU_KERNELS_LINEAR_LINEAR_FORWARD_H
#define BACKENDS_CPU_KERNELS_LINEAR_LINEAR_FORWARD_H

#include "backends/cpu/kernels/linear/linear_kernels.h"

struct forward {
	const struct linear_shape *shape;
	const struct linear_batch *batch;
	const float *weights;
	int words;	  /* of bits per sample */
	uint64_t *needed; /* [count][words]: outputs to compute */
	/* [count][words]: index of the first vector of sums */
	uint32_t *places;
	/* [vectors][FOLD][LANES / FOLD]: sums of FOLD needed outputs */
	float *sums;
};

/* Returns the sum of needed output i, counted from the vector at sums on. */
INLINE float sum_of(const float *sums, int i)
{
	float sum = 0;

	for (int lane = 0; lane < LANES / FOLD; lane++)
		sum += sums[i * (LANES / FOLD) + lane];
	return sum;
}

/* Adds all products, if every output is needed. */
void VEC_NAME(linear_dense)(const struct forward *forward);

/* Samples per output up to which linear_rows() is fastest; with more, kernels
 * that also reuse inputs are faster. */
#define FEW_SAMPLES (LANES < 16 ? 5 : 10)

/* linear_forward() for rows_pay() without dropped inputs. */
size_t VEC_NAME(linear_rows_scratch)(const struct linear_shape *shape,
				     int count);
void VEC_NAME(linear_rows)(const struct linear_shape *shape,
			   const struct linear_values *parameters,
			   const struct linear_batch *batch, float *out,
			   void *scratch);

/* linear_forward() with factors rounded to bf16, for linear_forward_is_dense()
 * without dropped inputs. */
size_t VEC_NAME(linear_forward_bf16_scratch)(const struct linear_shape *shape,
					     int count);
void VEC_NAME(linear_forward_bf16)(const struct linear_shape *shape,
				   const struct linear_values *parameters,
				   const struct linear_batch *batch, float *out,
				   void *scratch);

#endif
