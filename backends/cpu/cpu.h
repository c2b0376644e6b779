/*
 * The cpu backend's own types. Its vectors are laid out as the kernels want
 * them (see kernels.h); layout.c knows where each flat parameter lives.
 */
#ifndef BACKENDS_CPU_CPU_H
#define BACKENDS_CPU_CPU_H

#include "backends/cpu/kernels.h"
#include "backends/host.h"

/* A step bound to memory. Arrays over the batch hold batch samples. */
struct cpu_step {
	const struct step *step;
	struct conv_shape conv;
	int gathered;	     /* few input channels: patches are gathered */
	size_t weight, bias; /* in the vectors */
	size_t in_size, out_size; /* floats of a sample, padding included */
	float *out;		  /* [batch][out_size] */
	float *out_slopes;	  /* [batch][out_size]: of the loss by out */
	uint8_t *winners;	  /* [batch][out_size], with pooling */
	float *forward_weights;	  /* [window][window][channel][out_stride] */
};

struct cpu_program {
	struct host_program host;
	const struct cpu_kernels *kernels;
	struct cpu_step steps[MODEL_MAX_LAYERS];
	int conv_count;	   /* steps that are convolutions: the first ones */
	uint32_t *where;   /* place in the vectors of each flat parameter */
	float *patches;	   /* one gathered sample */
	float *rows;	   /* unpooled rows of a window */
	float *ones;	   /* [batch] */
	int weights_moved; /* forward_weights are older than the parameters */
};

/* Shapes, strides and places from the plan; length is that of a vector. */
void cpu_lay_out(struct cpu_program *program, size_t *length);

/* Whether no convolution follows a linear layer. */
int cpu_convs_come_first(const struct cpu_program *program);

/* Allocates where and fills it. */
int cpu_map_parameters(struct cpu_program *program);

/* Fills forward_weights from the parameters, if those have changed. */
void cpu_refresh_weights(struct cpu_program *program);

const struct cpu_kernels *cpu_choose_kernels(struct error *err);

/* Samples first .. first + count of batch, into places 0 .. count. */
void cpu_forward(struct cpu_program *program, const struct batch *batch,
		 int first, int count, int training);

/* After cpu_forward of the whole batch and the slopes of the logits. */
void cpu_backward(struct cpu_program *program, const struct batch *batch);

/* Slot of struct backend: decisions in the order of the contract. */
int cpu_decisions(struct program *program, int layer, uint8_t *values,
		  struct error *err);

#endif
