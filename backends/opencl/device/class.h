/*
 * Two ways of computing on a device, and how each splits the work.
 *
 * The cpu class has one work-item in a work-group, which computes with vectors
 * and never waits. The gpu class has work-groups whose items fill tiles in
 * local memory together; it multiplies everything, in few launches.
 */
#ifndef BACKENDS_OPENCL_DEVICE_CLASS_H
#define BACKENDS_OPENCL_DEVICE_CLASS_H

#include <CL/cl.h>

#include "backends/contract/backend.h"

struct opencl_program; /* program/program.h */
struct pass;	       /* program/pass.h */
struct solver;	       /* contract/plan.h */

/* Local memory that a work-group of any kernel has at most, in bytes. */
#define LOCAL_BYTES (32 * 1024)

/* How the kernels of a class split the work: the names of their macros. */
struct tiling {
	int items;   /* of a work-group */
	int updated; /* parameters of a work-group of the optimizer */
	int groups;  /* that a layer of any kind should have at least */
	/* The cpu class knows no more than these. */
	int rows, columns; /* of a tile of sums, at most */
	int deep, linear_deep; /* factors of these in local memory at once */
	int factor_columns, span; /* of a tile of a convolution's weights:
				     columns, and positions at once */
	int splits; /* parts of a sum over samples, at most */
	int chunk;  /* inputs of a part of a linear layer's sums, about */
	int head_split; /* items for an output of the last layer */
	int reduced;	/* parameters of a work-group that sums up parts */
	int least_depth; /* factors of a part of a product, about */
};

struct device_class {
	const char *name; /* of --device-class */
	cl_device_type types; /* devices that it is for by default */
	struct tiling tiling;
	const struct solver *const *solvers; /* the most special first */
	int solver_count;
	/* Kernels that belong to no step, for the whole program. */
	int (*build)(struct opencl_program *program, struct error *err);
	/* Memory, or launches, of a pass that come before those of steps. */
	int (*begin)(struct opencl_program *program, struct pass *pass,
		     struct error *err);
	/* Whether what ends a training step sums up its outcomes as well. */
	int ends_with_score;
	/* Once both passes are made, unless it is NULL. */
	int (*end)(struct opencl_program *program, struct error *err);
	/* Behind the launches of the training pass: completes the gradient,
	 * and alternatively updates all parameters as well. NULL: nothing is
	 * left to be done, and the update is one of its own. */
	int (*gradient)(struct opencl_program *program, struct error *err);
	int (*train)(struct opencl_program *program,
		     const struct update *update, struct error *err);
};

extern const struct device_class cpu_class, gpu_class;

#endif
