/* A linear layer by kernels that leave out what dropout and ReLU have stopped:
 * see kernels/linear.h. */
#ifndef BACKENDS_CPU_SOLVERS_SPARSE_LINEAR_H
#define BACKENDS_CPU_SOLVERS_SPARSE_LINEAR_H

#include "backends/cpu/program.h"

struct cpu_joint_layer;

struct linear_step {
	struct cpu_step step;
	struct linear_shape shape;
	int relu, dropout;   /* rows, or CPU_NO_ROW */
	size_t weight, bias; /* in the vectors */
	size_t *places; /* [inputs, as in the model]: of the first output's
			   weights, from weight on */
	float *dx; /* [batch], where it is to be added to another gradient */
	struct cpu_joint_layer *joint; /* NULL: a core updates it alone */
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

#endif
