/*
 * How the work of a step is counted (backends/contract/profile.h), for the
 * files that count it. Multiply-adds are those of a sample unless a name says
 * otherwise.
 */
#ifndef BACKENDS_CPU_WORK_H
#define BACKENDS_CPU_WORK_H

#include "backends/cpu/cpu.h"

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
