/* Private to the cpu class of the OpenCL backend. */
#ifndef BACKENDS_OPENCL_SOLVERS_CPU_CLASS_CPU_CLASS_H
#define BACKENDS_OPENCL_SOLVERS_CPU_CLASS_CPU_CLASS_H

#include "backends/opencl/program/source.h"
#include "backends/opencl/program/steps.h"

extern const struct opencl_solver conv_solver, winograd_solver, linear_solver;
/* conv_nhwc takes any convolution or linear layer. winograd_nhwc multiplies by
 * tiles, with --algorithm fast only. */
extern const struct opencl_solver conv_nhwc, winograd_nhwc;

/* Returns 1 with --algorithm dense. */
int program_is_dense(const struct opencl_program *program);
/* Makes the buffer of a step's dropout choices, if it drops. */
int dropout_allocate(struct opencl_program *program, struct pass *pass,
		     int index, struct error *err);

/* conv.c: groups of samples whose weight gradients are summed in parallel. The
 * number occupies the device, and is fixed so that all devices sum in one
 * order. */
#define GROUPS 32

/* Adds the macros of conv_forward.cl and conv_backward.cl. planes: planes of
 * the input, and of its gradient, that are processed at once. */
void conv_define(const struct opencl_program *program, int index, int planes,
		 struct defines *defines);
/* Returns, or appends, the launch that adds up the sums of a step's groups. */
struct launch conv_reduce_launch(const struct opencl_program *program,
				 int index);
int conv_add_reduce(struct opencl_program *program, struct pass *pass,
		    int index, struct error *err);
/* Returns the floats of a group's sums. */
size_t conv_sum_size(const struct opencl_program *program, int index);

/* Returns 1 if conv_weights can use the gradient of the step's output as it is.
 * That kernel computes no input gradient and supports no mask but a ReLU's. */
int conv_is_plain(const struct opencl_program *program, int index);

#endif
