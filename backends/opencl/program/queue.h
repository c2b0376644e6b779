/*
 * What a program gives its device to do, in order: kernels and transfers, the
 * buffers that they work on, and the times that the device itself takes of
 * them. The host gives it all of a step at once and only waits for the last.
 */
#ifndef BACKENDS_OPENCL_PROGRAM_QUEUE_H
#define BACKENDS_OPENCL_PROGRAM_QUEUE_H

#include "backends/contract/profile.h"
#include "backends/opencl/device/device.h"

#define MEMORIES_OF_STEP 16

/*
 * The commands that are timed: launches of the training pass by their place in
 * it, as many as a profile has room for, and what is around them. A launch that
 * is none of these has PART_NONE, 0.
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

struct queue {
	struct program *program; /* has options, counts launches */
	cl_command_queue commands;
	cl_mem memories[2 * MODEL_MAX_LAYERS * MEMORIES_OF_STEP];
	int memory_count;
	int own_memories; /* of these, those that it was compiled with */
	int counts; /* memory is not made, but counted: in counted_bytes */
	double counted_bytes;
	cl_event events[PROFILE_MOST_PARTS]; /* of parts not reported yet */
	int timed; /* whether commands take times */
};

const struct opencl_device *queue_device(const struct queue *queue);
/* Of a program whose device is set. */
int queue_open(struct queue *queue, struct program *program,
	       struct error *err);
void queue_close(struct queue *queue);

/* The commands, to give them one kernel or transfer, which is counted. */
cl_command_queue queue_next(struct queue *queue);
int queue_flush(const struct queue *queue, struct error *err);

/* Before a step: from when there is an observer on, times are taken. */
int queue_time(struct queue *queue, struct error *err);
/* Where the event of a command goes; NULL without an observer. */
cl_event *queue_event(struct queue *queue, int part);
/* Once all commands so far are done: reports their times to the observer. */
int queue_report(struct queue *queue, struct error *err);

#endif
