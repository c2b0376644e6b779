/*
 * The parts of an iteration, each a command of the queue, timed by the device
 * itself: the host gives it all of them at once and only waits for the last.
 */
#ifndef BACKENDS_OPENCL_PROGRAM_PROFILE_H
#define BACKENDS_OPENCL_PROGRAM_PROFILE_H

#include <CL/cl.h>

#include "backends/contract/backend.h"
#include "backends/contract/profile.h"

struct opencl_program;

/*
 * Launches of the training pass by their place in it, as many as a profile has
 * room for, and what is around them. A launch that is none of these has
 * PART_NONE, 0.
 */
enum command {
	PART_NONE,
	PART_IMAGES,
	PART_LABELS,
	PART_GATHER,
	PART_SUMS,
	PART_UPDATE,
	PART_SCORE,
	PART_LAUNCHES,
	PARTS = PROFILE_MOST_PARTS
};

/* Before a step: from when there is an observer on, the queue takes times. */
int profile_start(struct opencl_program *program, struct error *err);
/* Where the event of a command goes; NULL without an observer. */
cl_event *profile_event(struct opencl_program *program, int part);
/* Once all commands so far are done: reports their times to the observer. */
int profile_finish(struct opencl_program *program, struct error *err);
void profile_release(struct opencl_program *program);

/* A slot of the backend. */
int opencl_profile(struct program *program, struct profile_part *parts);

#endif
