/*
 * The commands of a program, which the device runs in order: kernels and
 * transfers, their buffers, and the times that the device measures. The host
 * enqueues all commands of a step and waits for the last only.
 */
#ifndef BACKENDS_OPENCL_PROGRAM_QUEUE_H
#define BACKENDS_OPENCL_PROGRAM_QUEUE_H

#include "backends/contract/profile.h"
#include "backends/opencl/device/device.h"

#define MEMORIES_OF_STEP 16

/*
 * The timed commands: launches of the training pass by their index, as far as a
 * profile has room, and the commands around them. PART_NONE: not timed.
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
	int own_memories; /* the number made by compile */
	int counts; /* 1: memory is counted in counted_bytes, not made */
	double counted_bytes;
	cl_event events[PROFILE_MOST_PARTS]; /* of parts to be reported */
	int timed; /* 1: the device measures times */
};

const struct opencl_device *queue_device(const struct queue *queue);
/* Opens the queue of a program whose device is set. */
int queue_open(struct queue *queue, struct program *program,
	       struct error *err);
void queue_close(struct queue *queue);

/* Returns the command queue for one kernel or transfer, and counts it. */
cl_command_queue queue_next(struct queue *queue);
int queue_flush(const struct queue *queue, struct error *err);

/* Turns timing on once the program has an observer. Call it before a step. */
int queue_time(struct queue *queue, struct error *err);
/* Returns where to store the event of a command; NULL without an observer. */
cl_event *queue_event(struct queue *queue, int part);
/* Reports times to the observer. All commands so far must have ended. */
int queue_report(struct queue *queue, struct error *err);

#endif
