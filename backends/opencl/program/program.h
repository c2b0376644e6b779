/*
 * A model compiled for an OpenCL device: two passes over it, one for training,
 * with gradient and masks, and one for testing, in buffers of its own.
 *
 * The replica's vectors are flat on the device too, so that they cross the
 * border as they are.
 */
#ifndef BACKENDS_OPENCL_PROGRAM_PROGRAM_H
#define BACKENDS_OPENCL_PROGRAM_PROGRAM_H

#include "backends/contract/plan.h"
#include "backends/host/storage.h"
#include "backends/opencl/device/device.h"
#include "backends/opencl/program/pass.h"

#define MARKS 3

/* What a step has for itself while it runs: steps share it. */
struct generic_memory {
	cl_mem parts;	      /* of a weight gradient, not yet summed */
	cl_mem packed, x, dy; /* copies, as conv_nhwc.cl has them */
	cl_mem points, sums;  /* winograd_nhwc.cl: V, M */
};

/* Floats of each that a step needs. */
struct generic_room {
	size_t parts, packed, x, dy, points, sums;
};

struct opencl_program {
	struct program base;
	struct graph graph;
	struct plan plan;
	struct queue queue;
	cl_mem vectors[VECTOR_COUNT];
	cl_program common; /* kernels of training.cl, and of no step */
	cl_program sums;   /* kernels of gpu_sums.cl; NULL: of the cpu class */
	cl_program built[MODEL_MAX_LAYERS];  /* kernels of each step */
	struct pass train, test;
	struct launch update;
	struct launch reduce, reduce_update; /* of the gpu class */
	cl_mem parts, segments;		     /* what they sum up */
	cl_program generic;	/* kernels of generic.cl; NULL: no step has */
	struct generic_memory generic_memory;
	cl_mem buffers;		/* VECTOR_BUFFERS, or NULL */
	struct storage storage;
	cl_mem products; /* the parameters as products take them */
	struct launch slices[VECTOR_COUNT]; /* that round what is updated */
	cl_mem order; /* of the resident training set; or NULL */
	float *mapped[VECTOR_COUNT]; /* while they are lent */
	int count;      /* samples of the last gradient */
	int trained;    /* whether an update was made with it at once */
	struct batch last; /* that one; its images may be gone */
	int unfinished; /* gradients whose scores have not been read */
	cl_event marks[MARKS]; /* behind some of them, if they are many */
};

/* What solvers know besides the graph. */
struct opencl_options {
	struct program_options base; /* first: see struct solver */
	int width;		     /* floats of a vector in the kernels */
};

/*
 * How steps of one kind are computed; what is NULL is not needed. Memory is of
 * one pass; forward and backward append launches.
 */
struct opencl_solver {
	struct solver base; /* takes() gets an opencl_options' base */
	int channels_last;  /* it reads so what is not the images */
	int makes_loss; /* of a model with classes, if that is right behind */
	/* Whether a step also computes the one that it reads, both ways. */
	int (*leads)(const struct opencl_program *program, int index);
	int (*build)(struct opencl_program *program, int index,
		     struct error *err);
	int (*allocate)(struct opencl_program *program, struct pass *pass,
			int index, struct error *err);
	/* What of it the step needs, for passes of so many samples at most;
	 * NULL: nothing. */
	struct generic_room (*room)(const struct opencl_program *program,
				    int index, int samples);
	int (*forward)(struct opencl_program *program, struct pass *pass,
		       int index, struct error *err);
	int (*backward)(struct opencl_program *program, struct pass *pass,
			int index, struct error *err);
	/* The launch that makes the output of a step that is led once more, to
	 * y, from what the last batch has left. */
	int (*remake)(struct opencl_program *program, int index, cl_mem y,
		      struct launch *launch, struct error *err);
};

#endif
