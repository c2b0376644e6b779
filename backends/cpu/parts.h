/*
 * The parts of an iteration of the cpu backend, in the order in which they come
 * (see backends/contract/profile.h). Steps count from the front, backward from
 * the last.
 */
#ifndef BACKENDS_CPU_PARTS_H
#define BACKENDS_CPU_PARTS_H

#include "backends/contract/backend.h"

/* Parts of a step on the way back. */
enum cpu_backward {
	CPU_BY_ALL, /* the input, and what else is done beside it */
	CPU_STEM_WEIGHTS, /* by the weights of a stem's second convolution */
	CPU_BACKWARD_PARTS
};

enum cpu_part {
	CPU_PART_GRADIENT, /* zeroed */
	CPU_PART_CHOICES,  /* of dropout */
	CPU_PART_WEIGHTS,  /* transformed, or in another order */
	CPU_PART_FORWARD,  /* and the number of the step */
	CPU_PART_LOSS = CPU_PART_FORWARD + MODEL_MAX_LAYERS,
	CPU_PART_BACKWARD,
	CPU_PART_UPDATE =
		CPU_PART_BACKWARD + CPU_BACKWARD_PARTS * MODEL_MAX_LAYERS,
	CPU_PART_JOINT, /* of weights that cores update together */
	CPU_PARTS
};

static inline int cpu_part_backward(int step, enum cpu_backward which)
{
	return CPU_PART_BACKWARD +
	       CPU_BACKWARD_PARTS * (MODEL_MAX_LAYERS - 1 - step) + (int)which;
}

/* Slot of struct backend: CPU_PARTS of them. */
int cpu_profile(struct program *program, struct profile_part *parts);

#endif
