/*
 * The two classes of devices: each has its own kernels and splits the work in
 * its own way.
 *
 * The cpu class has one work-item per work-group, which computes with vectors
 * and never waits. The items of the gpu class fill tiles in local memory
 * together; it multiplies everything, in few launches.
 */
#ifndef BACKENDS_OPENCL_DEVICE_CLASS_H
#define BACKENDS_OPENCL_DEVICE_CLASS_H

#include <CL/cl.h>

#include "backends/contract/backend.h"

struct opencl_program; /* program/program.h */
struct pass;	       /* program/pass.h */
struct solver;	       /* contract/plan.h */

/* The most local memory that a work-group of any kernel uses, in bytes. */
#define LOCAL_BYTES (32 * 1024)

/* How the kernels of a class split the work: values of their macros. */
struct tiling {
	int items;   /* per work-group */
	int updated; /* parameters per work-group of the optimizer */
	int groups;  /* work-groups that a layer should have at least */
	/* The rest is of the gpu class alone; 0 in the cpu class. */
	int rows, columns; /* of a tile of sums, at most */
	int deep, linear_deep; /* depth of a tile of factors in local memory */
	int factor_columns, span; /* columns of a tile of a convolution's
				     weight gradient, and positions at once */
	int splits; /* most parts of a sum over samples */
	int chunk;  /* inputs per part of a linear layer's sums, about */
	int head_split; /* items per output of the last layer */
	int reduced;	/* parameters per work-group that sums up parts */
	int least_depth; /* factors per part of a product, about */
};

struct device_class {
	const char *name; /* value of --device-class */
	cl_device_type types; /* devices that get this class by default */
	struct tiling tiling;
	const struct solver *const *solvers; /* most specialized first */
	int solver_count;
	/* Builds the kernels that belong to no step. */
	int (*build)(struct opencl_program *program, struct error *err);
	/* Makes memory and launches of a pass that come before the steps. */
	int (*begin)(struct opencl_program *program, struct pass *pass,
		     struct error *err);
	/* 1: gradient and train sum up the outcomes of the batch as well. */
	int ends_with_score;
	/* Called when both passes are made; or NULL. */
	int (*end)(struct opencl_program *program, struct error *err);
	/* Run after the launches of the training pass. gradient completes the
	 * gradient; train completes it and updates all parameters. NULL: the
	 * gradient is complete, and the update is a launch of its own. */
	int (*gradient)(struct opencl_program *program, struct error *err);
	int (*train)(struct opencl_program *program,
		     const struct update *update, struct error *err);
};

extern const struct device_class cpu_class, gpu_class;

#endif
