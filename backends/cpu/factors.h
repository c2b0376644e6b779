/*
 * Update of linear layers by sufficient factors. Cores exchange a layer's
 * inputs and output gradients (factors) instead of its weight gradient. With
 * shared memory, each core updates some blocks of the layer's inputs, over the
 * samples of all cores. Without it, each core receives all factors and updates
 * all blocks.
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
	size_t weight, bias; /* offsets in the vectors */
	/* [inputs, in the model's order]: offsets of the first output's weights
	 * from weight */
	size_t *weight_offsets;
	/* [batch], if dx is to be added to another gradient; else NULL */
	float *dx;
	struct cpu_factors_layer *factors; /* NULL = a core updates it alone */
};

/* Returns the floats of the weights in each vector. */
static inline size_t linear_weights(const struct linear_step *linear)
{
	return (size_t)linear->shape.outputs * linear_inputs(&linear->shape);
}

/* Returns the layer's weights and bias in a vector; NULLs if the program lacks
 * that vector. */
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

/* Returns the parameters and the optimizer's state. */
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

/* A layer that cores update together. */
struct cpu_factors_layer {
	struct cpu_factors_layer *next;
	struct linear_step *linear;
	size_t head, keep, dz, in; /* offsets in a core's part */
	size_t updated; /* floats of each vector, in the last update */
};

struct cpu_factors {
	struct cpu_factors_layer *layers;
	int rank, size;
	int distributed; /* 1 = cores share no memory */
	size_t each;	 /* bytes of a core's part */
	char *all;	 /* [size][each]; owned if distributed */
	struct linear_part *parts; /* [size] */
	void *scratch;
};

/* Lets cores update the layer together and sets linear->factors, if that fits;
 * otherwise does nothing. Returns 0, or -1 without memory. */
int cpu_factors_add(struct cpu_program *program, struct linear_step *linear);
/* program->factors may be NULL. */
void cpu_factors_close(struct cpu_program *program);
/* Places the layers' weights from at on; returns the place after them. */
size_t cpu_factors_place(struct cpu_program *program, size_t at);
/*
 * Allocates the factors of all cores and gives the layers' inputs their place
 * there. Every core must call it at the same time. Returns 0, or -1 with err.
 */
int cpu_factors_share(struct cpu_program *program, struct error *err);

/*
 * Runs the layer's backward pass, except for the part that cores do together.
 */
void cpu_factors_backward(struct cpu_program *program,
			  const struct linear_step *linear,
			  const struct linear_batch *batch,
			  const struct linear_flow *flow);
/* Empties this core's factors; call before each gradient, which may be of a
 * batch without samples. */
void cpu_factors_begin(struct cpu_program *program);
/*
 * Updates the parameters after program->reduced: see update in struct backend.
 */
void cpu_factors_update(struct cpu_program *program,
			const struct update *update);

#endif
