/*
 * The direct convolutions of one instruction set, which table.c puts into the
 * table of backends/cpu/kernels.h; their contracts are there.
 */
#ifndef BACKENDS_CPU_KERNELS_CONV_KERNELS_H
#define BACKENDS_CPU_KERNELS_CONV_KERNELS_H

#include "backends/cpu/kernels.h"
#include "backends/cpu/kernels/simd.h"

void ISA_NAME(conv_forward)(const struct conv_shape *shape, const float *in,
			    const float *weights, const float *bias,
			    float *rows, float *out, uint8_t *winners);

void ISA_NAME(conv_backward)(const struct conv_shape *shape, int outputs,
			     const float *in, const float *weights,
			     const float *out_slopes, const uint8_t *winners,
			     float *weight_slopes, float *bias_slopes,
			     float *in_slopes);

void ISA_NAME(conv_weights_dense)(const struct conv_shape *shape, int outputs,
				  const float *in, const float *slopes,
				  int slopes_row, float *weight_slopes,
				  float *bias_slopes);

void ISA_NAME(conv_unpool)(const struct conv_shape *shape, const float *slopes,
			   const uint8_t *winners, float *unpooled, int row);

#endif
