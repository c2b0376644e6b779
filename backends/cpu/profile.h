/*
 * Parts of an iteration of the cpu backend (backends/contract/profile.h), and
 * the counts of their work. Multiply-adds are per sample unless a name says
 * otherwise.
 */
#ifndef BACKENDS_CPU_PROFILE_H
#define BACKENDS_CPU_PROFILE_H

#include "backends/cpu/program.h"

/* Parts of a step's backward pass. */
enum cpu_backward {
	/* gradient of the input, and work done along with it */
	CPU_BACKWARD_ALL,
	CPU_STEM_WEIGHTS, /* gradient of the stem's second weights */
	CPU_BACKWARD_PARTS
};

/* In order of time: steps from the front, backward from the last. */
enum cpu_part {
	CPU_PART_GRADIENT, /* zeroing */
	CPU_PART_CHOICES,  /* dropout's choices */
	CPU_PART_WEIGHTS,  /* transforming or reordering weights */
	CPU_PART_FORWARD,  /* plus the number of the step */
	CPU_PART_LOSS = CPU_PART_FORWARD + MODEL_MAX_LAYERS,
	CPU_PART_BACKWARD,
	CPU_PART_UPDATE = CPU_PART_BACKWARD +
			  CPU_BACKWARD_PARTS * MODEL_MAX_LAYERS,
	CPU_PART_FACTORED, /* weights that cores update together; by step */
	CPU_PARTS = CPU_PART_FACTORED + MODEL_MAX_LAYERS
};

static inline int cpu_part_backward(int step, enum cpu_backward which)
{
	return CPU_PART_BACKWARD +
	       CPU_BACKWARD_PARTS * (MODEL_MAX_LAYERS - 1 - step) + (int)which;
}

/* Slot of struct backend; fills CPU_PARTS parts. */
int cpu_profile(struct program *program, struct profile_part *parts);

#define WORK_FLOAT ((double)sizeof(float))
#define WORK_UPDATE 7 /* vectors: 4 are read, 3 of them written */

/* Returns the samples of the last gradient. */
double work_samples(const struct cpu_program *program);

/*
 * Returns the multiply-adds of a convolution or linear layer by its definition.
 */
double work_of_node(const struct node *node);

/* Returns the weights and biases of a convolution or linear layer. */
double work_parameters(const struct node *node);

/* Returns part / all; NAN if all is 0. */
double work_share(double part, double all);

/* Names a part "conv1 forward"; a layer without a name, "maxpool 3 forward". */
void work_name(const struct cpu_program *program, const struct cpu_step *step,
	       const char *what, struct profile_part *part);

/* Slot work of struct cpu_solver for a step without multiplications. It counts
 * the step's input, output and their gradients. */
void work_elements(const struct cpu_program *program,
		   const struct cpu_step *step, struct profile_part *parts);

#endif
