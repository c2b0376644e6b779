/*
 * A convolution's way back by every position of its sums, for ALGORITHM_DENSE:
 * conv_dense.cl. Of images without pooling, conv_backward.cl has that already.
 */
#ifndef BACKENDS_OPENCL_CONV_DENSE_H
#define BACKENDS_OPENCL_CONV_DENSE_H

#include "backends/opencl/opencl.h"

/* Whether every multiplication is to be done. */
int program_is_dense(const struct opencl_program *program);

/* Whether the next step reads y where conv_forward puts it. */
int conv_is_channels_last(const struct opencl_program *program, int index);

/* Whether conv_weights, which makes no slope of the input and knows no mask but
 * a ReLU's, can take the slopes by the step's output as they are. */
int conv_is_plain(const struct opencl_program *program, int index);

/* Whether the slopes by the sums of a convolution are laid out one by one, a
 * sample of each group at a time, in so many bytes that start as zeros. */
int slopes_are_scattered(const struct opencl_program *program, int index);
size_t scattered_bytes(const struct opencl_program *program, int index);

/* Whether the weight gradient is of all positions, sums[tap][input][output]. */
int conv_is_dense(const struct opencl_program *program, int index);

/* What the compiler has to know of it; empty where they are not. */
#define SCATTERED_OPTIONS 192
void scattered_options(const struct opencl_program *program, int index,
		       char *text, size_t size);

/* Appends the launch that makes the groups' sums and the input's slopes. */
int scattered_add(struct opencl_program *program, struct pass *pass, int index,
		  struct error *err);

#endif
