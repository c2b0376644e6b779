/*
 * Solvers that stand behind all others in both classes: one layer alone, of any
 * size, by the kernels of generic.cl and the files after it. Activations are
 * planar, and each row's gradient is complete before its own step goes back.
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

#define NORM_FLOATS 8 /* of a channel: generic_norm.cl */

/* The only row of step index, what it reads (the first of two), and makes. */
struct generic {
	const struct node *node;
	struct value x, y;
};

const struct node *generic_node(const struct opencl_program *program,
				int index);
struct generic generic_at(const struct opencl_program *program,
			  const struct pass *pass, int index);

/* A convolution, or a linear layer as one: a pixel without neighbours. */
struct sides {
	struct shape in, out;
	int window, stride, pad;
	int inputs; /* of an output */
};

struct sides sides_of(const struct node *node);

/* Samples of a part of a weight gradient, and how many parts there are. */
struct split {
	int samples, parts;
};

/* As many parts of what so many work-groups sum as it takes to have work for
 * all. */
int split_groups(const struct opencl_program *program, int groups);
/* Of a gradient with so many floats. */
struct split split_batch(const struct opencl_program *program, int groups,
			 size_t floats);

/* The tile of a product that a work-group makes: as in conv_nhwc.cl, or in
 * gpu_generic_conv.cl; what that one does not know is 0. */
struct product_tile {
	int wide, abreast, across, tall, blocks, deep;
	int run_blocks, run_tiles;
	int rows, columns, run_rows, run_columns;
};

struct product_tile product_tile(const struct opencl_program *program);

/* Adds the macros of generic.cl and of what is after it. */
void generic_define(const struct opencl_program *program,
		    struct defines *defines);
/* Builds the kernels that all of these steps have, once. */
int generic_build(struct opencl_program *program, int index,
		  struct error *err);
/* Output and the gradient by it, if that is wanted. */
int generic_allocate(struct opencl_program *program, struct pass *pass,
		     int index, struct error *err);

#endif
