/*
 * The last solvers in the list of both classes. Each computes a single layer of
 * any size, with the kernels of generic.cl and the files after it. Activations
 * are planar. A row's gradient is complete before its own backward step.
 */
#ifndef BACKENDS_OPENCL_SOLVERS_GENERIC_H
#define BACKENDS_OPENCL_SOLVERS_GENERIC_H

#include "backends/opencl/program/source.h"
#include "backends/opencl/program/steps.h"

extern const struct opencl_solver generic_norm, generic_relu, generic_add,
	generic_maxpool, generic_avgpool, generic_dropout;

#define GENERIC_SOLVERS                                                      \
	&generic_norm.base, &generic_relu.base, &generic_add.base,           \
		&generic_maxpool.base, &generic_avgpool.base,                \
		&generic_dropout.base

#define NORM_FLOATS 8 /* per channel: generic_norm.cl */

/* The only row of a step: its input (the first of two) and its output. */
struct generic {
	const struct node *node;
	struct value x, y;
};

const struct node *generic_node(const struct opencl_program *program,
				int index);
struct generic generic_at(const struct opencl_program *program,
			  const struct pass *pass, int index);

/* A convolution, or a linear layer as a convolution of one pixel. */
struct sides {
	struct shape in, out;
	int window, stride, pad;
	int inputs; /* per output */
};

struct sides sides_of(const struct node *node);

/* Samples per part of a weight gradient, and the number of parts. */
struct split {
	int samples, parts;
};

/* Returns the number of parts that occupies the device, if a part has this
 * number of work-groups. */
int split_groups(const struct opencl_program *program, int groups);
/* Splits a batch for a gradient with this number of floats. */
struct split split_batch(const struct opencl_program *program, int groups,
			 size_t floats);

/* The tile of a product that a work-group computes: macros of conv_nhwc.cl, or
 * of gpu_generic_conv.cl. Members that the latter does not use are 0. */
struct product_tile {
	int wide, abreast, across, tall, blocks, deep;
	int run_blocks, run_tiles;
	int rows, columns, run_rows, run_columns;
};

struct product_tile product_tile(const struct opencl_program *program);

/* Adds the macros of generic.cl and of the files after it. */
void generic_define(const struct opencl_program *program,
		    struct defines *defines);
/* Builds the kernels of all generic steps, once. */
int generic_build(struct opencl_program *program, int index,
		  struct error *err);
/* Makes the buffers of the output, its gradient, decisions and statistics, as
 * far as the step needs them. */
int generic_allocate(struct opencl_program *program, struct pass *pass,
		     int index, struct error *err);

#endif
