/* A linear layer by kernels that leave out what dropout and ReLU have stopped:
 * see linear.h. */
#ifndef BACKENDS_CPU_LINEAR_STEP_H
#define BACKENDS_CPU_LINEAR_STEP_H

#include "backends/cpu/cpu.h"

struct linear_step {
	struct cpu_step step;
	struct linear_shape shape;
	int relu, dropout;   /* rows, or CPU_NO_ROW */
	size_t weight, bias; /* in the vectors */
	float *dx; /* [batch], where it is to be added to another gradient */
};

/* Floats of its weights in the vectors. */
static inline size_t linear_weights(const struct linear_step *linear)
{
	return (size_t)linear->shape.outputs * linear_inputs(&linear->shape);
}

/* Parameters and their state: [weights, bias] in each vector. */
struct linear_state linear_state(const struct cpu_program *program,
				 const struct linear_step *linear);

/* See struct cpu_solver. */
void linear_work(const struct cpu_program *program, const struct cpu_step *step,
		 struct profile_part *parts);

#endif
