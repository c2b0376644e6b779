/*
 * Solvers that stand behind all others in both classes: one layer alone, of any
 * size, by the kernels of generic.cl and the files after it. Activations are
 * planar, and each row's gradient is complete before its own step goes back.
 */
#ifndef BACKENDS_OPENCL_PROGRAM_GENERIC_H
#define BACKENDS_OPENCL_PROGRAM_GENERIC_H

#include "backends/opencl/program/program.h"

extern const struct opencl_solver generic_norm, generic_relu, generic_add,
	generic_maxpool, generic_avgpool, generic_dropout;
/* Convolutions and linear layers: of the cpu class, and of the gpu class.
 * winograd_last, which not all networks can have, is one of fast alone. */
extern const struct opencl_solver conv_last, winograd_last, generic_conv;

#define GENERIC_SOLVERS                                                      \
	&generic_norm.base, &generic_relu.base, &generic_add.base,           \
		&generic_maxpool.base, &generic_avgpool.base,                \
		&generic_dropout.base

#define NORM_FLOATS 8 /* of a channel: generic_norm.cl */

/* What a row makes, or the images; the gradient by it is NULL if it is not
 * wanted. Samples are so many floats apart. */
struct value {
	cl_mem memory, gradient;
	int sample;
};

struct value value_of(const struct opencl_program *program,
		      const struct pass *pass, int row);
/* The only row of step index, what it reads (the first of two), and makes. */
struct generic {
	const struct node *node;
	struct value x, y;
};

const struct node *generic_node(const struct opencl_program *program,
				int index);
struct generic generic_at(const struct opencl_program *program,
			  const struct pass *pass, int index);

/* The tile of a product that a work-group makes: as in conv_last.cl, or in
 * gpu_generic_conv.cl; what that one does not know is 0. */
struct product_tile {
	int wide, abreast, across, tall, blocks, deep;
	int run_blocks, run_tiles;
	int rows, columns, run_rows, run_columns;
};

struct product_tile product_tile(const struct opencl_program *program);

/* Kernels for the whole program, if a step needs them. */
int generic_build(struct opencl_program *program, struct error *err);
/* What steps have while they run, one after the other, of so many samples at
 * most. */
int generic_share(struct opencl_program *program, int samples,
		  struct error *err);
/* Floats that step index has while it runs, for its pass of so many samples:
 * generic_conv.c, which has parts of gradients alone, conv_last.c, and
 * winograd_last.c, which alone has points. */
struct generic_room {
	size_t parts, packed, x, dy, points, sums;
};

struct generic_room generic_conv_room(const struct opencl_program *program,
				      int index);
struct generic_room conv_last_room(const struct opencl_program *program,
				   int index, int samples);
struct generic_room winograd_last_room(const struct opencl_program *program,
				       int index, int samples);

/* Output and the gradient by it, if that is wanted. */
int generic_allocate(struct opencl_program *program, struct pass *pass,
		     int index, struct error *err);
/* Of size elements of each sample, SPAN for each work-group. */
struct launch generic_launch(const struct opencl_program *program,
			     const char *name, int index, size_t size);
/* Appends a launch, the words behind the memories. */
int generic_append(struct opencl_program *program, struct pass *pass,
		   const struct launch *launch, const cl_mem *memories,
		   int memory_count, const cl_int *words, int word_count,
		   struct error *err);

#endif
