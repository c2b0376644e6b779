/*
 * How the work of a step is told (backends/profile.h), for the files that do.
 * Multiply-adds are those of a sample unless a name says otherwise.
 */
#ifndef BACKENDS_CPU_WORK_H
#define BACKENDS_CPU_WORK_H

#include "backends/cpu/cpu.h"

#define WORK_FLOAT ((double)sizeof(float))
#define WORK_UPDATE 7 /* vectors: 4 are read, 3 of them written */

/* Whether the step is two convolutions. */
int work_is_stem(const struct step *step);

/* Of the last gradient. */
double work_samples(const struct cpu_program *program);

/* By the definition: of a convolution, and of a step's main layer. */
double work_of_conv(struct shape out, int window, int channels);
double work_of_main(const struct step *step);

/* Weights and biases of the main layer. */
double work_parameters(const struct step *step);

/* part of all; NAN where there is nothing. */
double work_share(double part, double all);

/* "conv1+conv2 forward" */
void work_name(const struct cpu_program *program, int s, const char *what,
	       struct profile_part *part);

/* The parts of one step: of the stem, which is the first, of a convolution and
 * of a linear layer. */
void work_fill_stem(const struct cpu_program *program,
		    struct profile_part *parts);
void work_fill_conv(const struct cpu_program *program, int s,
		    struct profile_part *parts);
void work_fill_linear(const struct cpu_program *program, int s,
		      struct profile_part *parts);

#endif
