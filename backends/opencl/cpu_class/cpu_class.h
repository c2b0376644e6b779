/* Private to the cpu class of the OpenCL backend. */
#ifndef BACKENDS_OPENCL_CPU_CLASS_CPU_CLASS_H
#define BACKENDS_OPENCL_CPU_CLASS_CPU_CLASS_H

#include "backends/opencl/program/source.h"
#include "backends/opencl/program/steps.h"

extern const struct opencl_solver conv_solver, winograd_solver, linear_solver;
/* Of any convolution or linear layer; and by tiles, for fast alone. */
extern const struct opencl_solver conv_last, winograd_last;

/* Whether every multiplication is to be done. */
int program_is_dense(const struct opencl_program *program);
/* Where a step's dropout has its choices, if it drops. */
int dropout_allocate(struct opencl_program *program, struct pass *pass,
		     int index, struct error *err);

int chain_decisions(struct opencl_program *program, int index, int layer,
		    uint8_t *values, struct error *err);

/* conv.c: groups of samples whose weight gradients are summed side by side:
 * enough to occupy the device, and fixed, so that every device sums in one
 * order. */
#define GROUPS 32

/* Adds the macros of conv_forward.cl and conv_backward.cl. pooling 0 leaves out
 * the pooling; planes: of input and input gradient, how many are gone over at
 * once. */
void conv_define(const struct opencl_program *program, int index, int pooling,
		 int planes, struct defines *defines);
int conv_build(struct opencl_program *program, int index, int pooling,
	       cl_program *built, struct error *err);
/* Forward, of CONV_FORWARD_MEMORIES: input, packed weights, y and codes. */
#define CONV_FORWARD_MEMORIES 4
struct launch conv_launch(const struct opencl_program *program, int index,
			  int pooling);
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

/* winograd.c: convolutions by tiles; whether a step is one. */
int winograd_fits(const struct opencl_program *program, int index);
/* As conv_build(). */
int winograd_build(struct opencl_program *program, int index, int pooling,
		   cl_program *built, struct error *err);
/* Forward, of WINOGRAD_FORWARD_MEMORIES: input, packed weights, where y goes,
 * routes, choices of the dropout, and packed weights of the step before. */
#define WINOGRAD_FORWARD_MEMORIES 6
struct launch winograd_launch(const struct opencl_program *program, int index);
cl_mem winograd_input(const struct opencl_program *program,
		      const struct pass *pass, int index);

#endif
