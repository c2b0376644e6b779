/* Kernels with their arguments, and what they have to do. */
#ifndef BACKENDS_OPENCL_PROGRAM_LAUNCH_H
#define BACKENDS_OPENCL_PROGRAM_LAUNCH_H

#include "backends/opencl/program/queue.h"

int round_up(int n, int multiple);
int largest_divisor(int n, int most);
/* Parts that n things make of so many each, the last perhaps not whole. */
int parts_of(int n, int each);

/*
 * What a launch has to do. Multiply-adds, and floats that are read or written
 * at least, of each sample; and those of the parameters, whatever the batch is.
 */
struct cost {
	int step; /* whose it is */
	double dense, done;
	double moved, moved_once;
	/* Whether what is done is of elements of the step's output that are
	 * neither dropped nor stopped; done is then that of all. */
	int sparse;
	/* The step done along by the same kernel: the one that it reads (-1)
	 * or that reads it (1); 0: none. */
	int beside;
};

/*
 * A kernel with its arguments, and how many work-groups it has, `items` in
 * each dimension, each of group_items in the first (0: 1). Of the dimension
 * whose items are 0 there is one for each `samples` samples of the batch, or
 * of whatever else launch_enqueue() is given a count of.
 */
struct launch {
	const char *name;
	int items[3];
	int group_items;
	int samples;
	int batch_arguments; /* the kernel's first ones: see pass.c */
	struct cost work;
	int part; /* of a profile; PART_NONE: of none */
	int has_run;
	cl_kernel kernel;
};

/* The kernel's arguments are the batch's, then the memories, then the words.
 * launch becomes a copy of prototype, with its kernel. */
int launch_make(struct launch *launch, const struct launch *prototype,
		cl_program built, const cl_mem *memories, int memory_count,
		struct error *err);
int launch_words(struct launch *launch, int first, const cl_uint *words,
		 int count, struct error *err);
/* The first one is waited for. */
int launch_enqueue(struct queue *queue, struct launch *launch, int count,
		   struct error *err);
void launch_release(struct launch *launch);

#endif
