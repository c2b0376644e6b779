/* Kernels with their arguments, and the amount of their work. */
#ifndef BACKENDS_OPENCL_PROGRAM_LAUNCH_H
#define BACKENDS_OPENCL_PROGRAM_LAUNCH_H

#include "backends/opencl/program/queue.h"

int round_up(int n, int multiple);
int largest_divisor(int n, int most);
/* Returns n / each, rounded up. */
int parts_of(int n, int each);

/* The work of a launch, for a profile. */
struct cost {
	int step; /* index of its step */
	double dense, done; /* multiply-adds per sample: defined, computed */
	double moved; /* least floats read and written, per sample */
	double moved_once; /* ... per run, for the parameters */
	/* 1: only output elements that are neither dropped nor stopped cost
	 * work; done is the work for all. */
	int sparse;
	/* Another step that the same kernel computes: the one before (-1) or
	 * after (1); 0: none. */
	int beside;
};

/*
 * A kernel with its arguments and its number of work-groups: `items` in each
 * dimension. A group has group_items items in the first dimension (0: 1). The
 * dimension whose items are 0 has a group per `samples` samples of the batch,
 * or of any other count given to launch_enqueue().
 */
struct launch {
	const char *name;
	int items[3];
	int group_items;
	int samples;
	int batch_arguments; /* number of leading arguments that batch.c sets */
	struct cost work;
	int part; /* of a profile, or PART_NONE */
	int has_run;
	cl_kernel kernel;
};

/* Makes launch a copy of prototype with a kernel. The kernel's arguments are
 * batch_arguments, then the memories, then words. */
int launch_make(struct launch *launch, const struct launch *prototype,
		cl_program built, const cl_mem *memories, int memory_count,
		struct error *err);
int launch_words(struct launch *launch, int first, const cl_uint *words,
		 int count, struct error *err);
/* Runs the launch on count samples. Waits for the end of its first run. */
int launch_enqueue(struct queue *queue, struct launch *launch, int count,
		   struct error *err);
void launch_release(struct launch *launch);

#endif
