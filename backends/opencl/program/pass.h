/*
 * A pass over a model: a list of launches that run in order. Their arguments
 * are set once, except for the batch's.
 *
 * Kernels whose vectors run over channels read copies of the weights. A pass
 * makes these copies when it starts, and keeps them: the decisions of a
 * training step can be computed again until the next one.
 */
#ifndef BACKENDS_OPENCL_PROGRAM_PASS_H
#define BACKENDS_OPENCL_PROGRAM_PASS_H

#include "backends/opencl/program/launch.h"

#define LAUNCHES_OF_STEP 16

/* Buffers of a step for one pass; NULL: not used. */
struct step_memory {
	cl_mem y;      /* output of ReLU and pooling, before dropout */
	cl_mem output; /* input of the next step; may be y itself */
	cl_mem gradient; /* by output */
	cl_mem codes;  /* winners of y; of a generic step its decisions, in
			  the contract's order */
	cl_mem routes; /* winners of output; may be codes itself. In the gpu
			  class they are ushorts: see gpu.cl */
	cl_mem keep;   /* [sample][step_keep_sample()] choices of dropout */
	cl_mem packed, transposed; /* copies of a convolution's weights */
	cl_mem interleaved;	   /* images, channels last */
	cl_mem dz;		   /* see conv_dense.cl */
	cl_mem sums;   /* of groups or chunks, to be added up */
	cl_mem places, values; /* indices of non-zeros of a linear layer's
				  dz, and their values */
};

struct pass {
	int most;	/* samples */
	int training;	/* 1: with dropout and backward */
	cl_mem images, labels; /* or target vectors: see target_bytes() */
	cl_mem outcomes; /* [sample] { loss, correct } */
	cl_mem scores; /* [slots] sums of a batch's outcomes */
	float *host_scores;
	int slots, slot; /* slot of the running batch */
	struct step_memory steps[MODEL_MAX_LAYERS];
	struct launch gather; /* no kernel = no data set is resident */
	struct launch launches[MODEL_MAX_LAYERS * LAUNCHES_OF_STEP];
	int launch_count;
};

/* Appends a launch: see launch_make(). */
int pass_add(struct pass *pass, const struct launch *prototype,
	     cl_program built, const cl_mem *memories, int memory_count,
	     struct error *err);
/* Appends a launch with words after the memories. */
int pass_add_words(struct pass *pass, const struct launch *prototype,
		   cl_program built, const cl_mem *memories, int memory_count,
		   const cl_uint *words, int word_count, struct error *err);
void pass_release(struct pass *pass);

#endif
