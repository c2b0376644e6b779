/*
 * The parts of an iteration of the cpu backend (backends/contract/profile.h),
 * and how solvers count the work of theirs. Multiply-adds are those of a sample
 * unless a name says otherwise.
 */
#ifndef BACKENDS_CPU_PROFILE_H
#define BACKENDS_CPU_PROFILE_H

#include "backends/cpu/program.h"

/* Parts of a step on the way back. */
enum cpu_backward {
	CPU_BACKWARD_ALL, /* by the input, and what is done along with it */
	CPU_STEM_WEIGHTS, /* by the weights of a stem's second convolution */
	CPU_BACKWARD_PARTS
};

/* In the order in which they come: steps from the front, backward from the
 * last. */
enum cpu_part {
	CPU_PART_GRADIENT, /* zeroed */
	CPU_PART_CHOICES,  /* of dropout */
	CPU_PART_WEIGHTS,  /* transformed, or in another order */
	CPU_PART_FORWARD,  /* and the number of the step */
	CPU_PART_LOSS = CPU_PART_FORWARD + MODEL_MAX_LAYERS,
	CPU_PART_BACKWARD,
	CPU_PART_UPDATE =
		CPU_PART_BACKWARD + CPU_BACKWARD_PARTS * MODEL_MAX_LAYERS,
	CPU_PART_JOINT, /* of weights that cores update together; by steps */
	CPU_PARTS = CPU_PART_JOINT + MODEL_MAX_LAYERS
};

static inline int cpu_part_backward(int step, enum cpu_backward which)
{
	return CPU_PART_BACKWARD +
	       CPU_BACKWARD_PARTS * (MODEL_MAX_LAYERS - 1 - step) + (int)which;
}

/* Slot of struct backend: CPU_PARTS of them. */
int cpu_profile(struct program *program, struct profile_part *parts);

#define WORK_FLOAT ((double)sizeof(float))
#define WORK_UPDATE 7 /* vectors: 4 are read, 3 of them written */

/* Of the last gradient. */
double work_samples(const struct cpu_program *program);

/* By the definition of a convolution or a linear layer. */
double work_of_node(const struct node *node);

/* Weights and biases of such a layer. */
double work_parameters(const struct node *node);

/* part of all; NAN where there is nothing. */
double work_share(double part, double all);

/* "conv1 forward"; without a name of its own "maxpool 3 forward". */
void work_name(const struct cpu_program *program, const struct cpu_step *step,
	       const char *what, struct profile_part *part);

/* The parts of a step that multiplies nothing: slot work of struct cpu_solver.
 * It reads and writes what goes in and out, and the gradients by these. */
void work_elements(const struct cpu_program *program,
		   const struct cpu_step *step, struct profile_part *parts);

#endif
