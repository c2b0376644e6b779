/* Private to the cpu class of the OpenCL backend. */
#ifndef BACKENDS_OPENCL_SOLVERS_CPU_CLASS_CPU_CLASS_H
#define BACKENDS_OPENCL_SOLVERS_CPU_CLASS_CPU_CLASS_H

#include "backends/opencl/program/source.h"
#include "backends/opencl/program/steps.h"

extern const struct opencl_solver conv_solver, winograd_solver, linear_solver;
/* Of any convolution or linear layer; and by tiles, for fast alone. */
extern const struct opencl_solver conv_nhwc, winograd_nhwc;

/* Whether every multiplication is to be done. */
int program_is_dense(const struct opencl_program *program);
/* Where a step's dropout has its choices, if it drops. */
int dropout_allocate(struct opencl_program *program, struct pass *pass,
		     int index, struct error *err);

/* conv.c: groups of samples whose weight gradients are summed side by side:
 * enough to occupy the device, and fixed, so that every device sums in one
 * order. */
#define GROUPS 32

/* Adds the macros of conv_forward.cl and conv_backward.cl; planes: of input and
 * input gradient, how many are gone over at once. */
void conv_define(const struct opencl_program *program, int index, int planes,
		 struct defines *defines);
/* The sums of a step's groups, over all of them. */
struct launch conv_reduce_launch(const struct opencl_program *program,
				 int index);
int conv_add_reduce(struct opencl_program *program, struct pass *pass,
		    int index, struct error *err);
/* Floats of a group's sums. */
size_t conv_sum_size(const struct opencl_program *program, int index);

/* Whether conv_weights, which makes no input gradient and knows no mask but a
 * ReLU's, can use the gradient of the step's output as it is. */
int conv_is_plain(const struct opencl_program *program, int index);

#endif
