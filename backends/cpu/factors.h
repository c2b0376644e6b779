/*
 * What several cores have in common to make the weight gradients of linear
 * layers together, and with them the update: each core for some blocks of a
 * layer's inputs, over the samples of all; or, where they have no memory in
 * common, each for all blocks. Of each core it has the layers' inputs, and what
 * their kernels leave of the gradients by their outputs.
 */
#ifndef BACKENDS_CPU_FACTORS_H
#define BACKENDS_CPU_FACTORS_H

#include "backends/cpu/program.h"

struct cpu_factors_layer;

/* A linear layer of solvers/sparse_linear.c. */
struct linear_step {
	struct cpu_step step;
	struct linear_shape shape;
	int relu, dropout;   /* rows, or CPU_NO_ROW */
	size_t weight, bias; /* in the vectors */
	size_t *places; /* [inputs, as in the model]: of the first output's
			   weights, from weight on */
	float *dx; /* [batch], where it is to be added to another gradient */
	struct cpu_factors_layer *joint; /* NULL: a core updates it alone */
};

/* Floats of its weights in the vectors. */
static inline size_t linear_weights(const struct linear_step *linear)
{
	return (size_t)linear->shape.outputs * linear_inputs(&linear->shape);
}

/* [weights, bias] of its part of a vector; NULL of one that is not there. */
static inline struct linear_values linear_values_of(
	const struct cpu_program *program, const struct linear_step *linear,
	enum vector which)
{
	float *vector = program->host.vectors[which];

	if (!vector)
		return (struct linear_values){ 0 };
	return (struct linear_values){ .weights = vector + linear->weight,
				       .bias = vector + linear->bias };
}

/* Parameters and their state. */
static inline struct linear_state linear_state(
	const struct cpu_program *program, const struct linear_step *linear)
{
	return (struct linear_state){
		.parameters = linear_values_of(program, linear,
					       VECTOR_PARAMETERS),
		.first = linear_values_of(program, linear, VECTOR_STATE_0),
		.second = linear_values_of(program, linear, VECTOR_STATE_1),
	};
}

/* Of a layer. */
struct cpu_factors_layer {
	struct cpu_factors_layer *next;
	struct linear_step *linear;
	size_t head, keep, dz, in; /* places in a core's part */
	size_t updated; /* floats of each vector, in the last update */
};

struct cpu_factors {
	struct cpu_factors_layer *layers;
	int rank, size;
	int apart;   /* no memory is common */
	size_t each; /* bytes of a core's part */
	char *all;   /* [size][each]; owned where cores are apart */
	struct linear_part *parts; /* [size] */
	void *scratch;
};

/* Makes a layer one of those, and says so in linear->joint, where that fits.
 * -1: no memory. */
int cpu_factors_add(struct cpu_program *program, struct linear_step *linear);
void cpu_factors_close(struct cpu_program *program); /* without any, too */
/* The layers' weights; returns the place behind them. */
size_t cpu_factors_place(struct cpu_program *program, size_t at);
/* Every core calls it at once: memory of all, the layers' inputs among it. */
int cpu_factors_share(struct cpu_program *program, struct error *err);

/* The layer's own backward pass, but for what cores make together. */
void cpu_factors_backward(struct cpu_program *program,
			  const struct linear_step *linear,
			  const struct linear_batch *batch,
			  const struct linear_flow *flow);
/* Before a gradient, which leaves nothing of a batch without samples. */
void cpu_factors_begin(struct cpu_program *program);
/* Of what is behind program->reduced: see update of struct backend. */
void cpu_factors_update(struct cpu_program *program,
			const struct update *update);

#endif
