/* ReLU and addition, value by value, and the table of this folder. */
#include "backends/cpu/kernels/elementwise/elementwise.h"

#include "backends/cpu/kernels/elementwise/elementwise_kernels.h"

static void relu(size_t count, const float *x, float *y)
{
	/* A NaN fails the comparison and passes. */
	EACH_ALONE
	for (size_t i = 0; i < count; i++)
		y[i] = x[i] <= 0 ? 0 : x[i];
}

static void add(size_t count, const float *a, const float *b, float *y)
{
	EACH_ALONE
	for (size_t i = 0; i < count; i++)
		y[i] = a[i] + b[i];
}

static void add_to(size_t count, const float *from, float *to)
{
	EACH_ALONE
	for (size_t i = 0; i < count; i++)
		to[i] += from[i];
}

static void relu_backward(size_t count, const float *restrict y,
			  const float *dy, int adds, float *dx)
{
	if (adds)
		EACH_ALONE
		for (size_t i = 0; i < count; i++)
			dx[i] += y[i] <= 0 ? 0 : dy[i];
	else
		EACH_ALONE
		for (size_t i = 0; i < count; i++)
			dx[i] = y[i] <= 0 ? 0 : dy[i];
}

const struct elementwise_kernels VEC_NAME(elementwise_kernels) = {
	.maxpool = VEC_NAME(pooling_maxpool),
	.maxpool_backward = VEC_NAME(pooling_maxpool_backward),
	.avgpool = VEC_NAME(pooling_avgpool),
	.avgpool_backward = VEC_NAME(pooling_avgpool_backward),
	.add_moments = VEC_NAME(norm_add_moments),
	.norm = VEC_NAME(norm_forward),
	.norm_sums = VEC_NAME(norm_sums),
	.norm_backward = VEC_NAME(norm_backward),
	.relu = relu,
	.add = add,
	.add_to = add_to,
	.relu_backward = relu_backward,
};
