/*
 * A pass over a model: a list of launches whose arguments are set once. Running
 * it is walking the list.
 *
 * Kernels whose vectors run over channels work on copies of the weights that a
 * pass makes when it starts; they belong to the pass, and what a training step
 * has decided can be worked out again until the next one.
 */
#ifndef BACKENDS_OPENCL_PROGRAM_PASS_H
#define BACKENDS_OPENCL_PROGRAM_PASS_H

#include "backends/opencl/program/launch.h"

#define LAUNCHES_OF_STEP 16

/* What a step keeps on the device for one pass; unused ones are NULL. */
struct step_memory {
	cl_mem y;      /* after ReLU and pooling, before dropout */
	cl_mem output; /* what the next step reads; may be y itself */
	cl_mem gradient; /* by output */
	cl_mem codes;  /* winners, beside y; of a generic step what it decides,
			  in the contract's order */
	cl_mem routes; /* winners, beside output; may be codes itself, and are
			  in the gpu class ushorts, as gpu.cl says */
	cl_mem keep;   /* [sample][keep_sample] choices of the dropout */
	cl_mem packed, transposed; /* copies of the weights of a convolution */
	cl_mem interleaved;	   /* images, channels last */
	cl_mem dz;		   /* see kernels/conv_dense.cl */
	cl_mem sums;   /* not yet summed over groups or chunks */
	cl_mem places, values; /* where a linear layer's dz is not 0, and it */
};

struct pass {
	int most;	/* samples */
	int training;	/* with masks and backward */
	cl_mem images, labels; /* or vectors, see target_bytes() */
	cl_mem outcomes; /* [sample] { loss, correct } */
	cl_mem scores; /* [slots] sums of outcomes, of one batch each */
	float *host_scores;
	int slots, slot; /* the batch's that runs */
	struct step_memory steps[MODEL_MAX_LAYERS];
	struct launch gather; /* no kernel: no data set is resident */
	struct launch launches[MODEL_MAX_LAYERS * LAUNCHES_OF_STEP];
	int launch_count;
};

/* Appends a launch. */
int pass_add(struct pass *pass, const struct launch *prototype,
	     cl_program built, const cl_mem *memories, int memory_count,
	     struct error *err);
/* The same with words behind the memories. */
int pass_add_words(struct pass *pass, const struct launch *prototype,
		   cl_program built, const cl_mem *memories, int memory_count,
		   const cl_uint *words, int word_count, struct error *err);
void pass_release(struct pass *pass);

#endif
