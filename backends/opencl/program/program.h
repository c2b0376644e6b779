/*
 * A model compiled for an OpenCL device: a training pass and a test pass, each
 * with buffers of its own.
 *
 * The replica's vectors are flat on the device too, so that they are copied
 * without conversion.
 */
#ifndef BACKENDS_OPENCL_PROGRAM_PROGRAM_H
#define BACKENDS_OPENCL_PROGRAM_PROGRAM_H

#include "backends/contract/plan.h"
#include "backends/host/storage.h"
#include "backends/opencl/device/device.h"
#include "backends/opencl/program/pass.h"

#define MARKS 3

/* Scratch buffers of generic steps, which share them. */
struct generic_memory {
	cl_mem parts;	      /* of a weight gradient, to be added up */
	cl_mem packed, x, dy; /* copies: see conv_nhwc.cl */
	cl_mem points, sums;  /* winograd_nhwc.cl: V, M */
};

/* Floats of each scratch buffer that a step needs. */
struct generic_room {
	size_t parts, packed, x, dy, points, sums;
};

struct opencl_program {
	struct program base;
	struct graph graph;
	struct plan plan;
	struct queue queue;
	cl_mem vectors[VECTOR_COUNT];
	cl_program common; /* kernels of training.cl */
	cl_program sums;   /* kernels of gpu_sums.cl; NULL: cpu class */
	cl_program built[MODEL_MAX_LAYERS];  /* kernels of each step */
	struct pass train, test;
	struct launch update;
	struct launch reduce, reduce_update; /* of the gpu class: gpu_sums.c */
	cl_mem parts, segments;		     /* their input */
	cl_program generic;	/* kernels of generic.cl; NULL: not used */
	struct generic_memory generic_memory;
	cl_mem buffers;		/* VECTOR_BUFFERS, or NULL */
	struct storage storage;
	cl_mem products; /* parameters, rounded if products round them */
	struct launch slices[VECTOR_COUNT]; /* round the updated slice */
	cl_mem order; /* of the resident training set; or NULL */
	float *mapped[VECTOR_COUNT]; /* NULL: not lent to the host */
	int count;      /* samples of the last gradient */
	int trained;    /* 1: the last gradient was applied at once */
	struct batch last; /* of that gradient; its images may be gone */
	int unfinished; /* gradients whose scores have not been read */
	cl_event marks[MARKS]; /* see scores.c */
};

/* Options of solver.takes(), which also gets the graph. */
struct opencl_options {
	struct program_options base; /* first: see struct solver */
	int width;		     /* floats of a vector in the kernels */
};

/* Computes steps of one kind. A function that is not needed is NULL. Buffers
 * belong to one pass; forward and backward append launches to it. */
struct opencl_solver {
	struct solver base; /* takes() gets an opencl_options' base */
	int channels_last;  /* layout of its input, except for images */
	int makes_loss; /* 1: computes the next step too if that is the loss
			   of a model with classes */
	/* Returns 1 if the step also computes its source step, both ways. */
	int (*leads)(const struct opencl_program *program, int index);
	int (*build)(struct opencl_program *program, int index,
		     struct error *err);
	int (*allocate)(struct opencl_program *program, struct pass *pass,
			int index, struct error *err);
	/* Returns the scratch that the step needs for passes of this number of
	 * samples. */
	struct generic_room (*room)(const struct opencl_program *program,
				    int index, int samples);
	int (*forward)(struct opencl_program *program, struct pass *pass,
		       int index, struct error *err);
	int (*backward)(struct opencl_program *program, struct pass *pass,
			int index, struct error *err);
	/* Makes a launch that computes the output of a led step again, to y,
	 * from the buffers of the last batch. */
	int (*remake)(struct opencl_program *program, int index, cl_mem y,
		      struct launch *launch, struct error *err);
};

#endif
