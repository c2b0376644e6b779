/* Buffers of a program: zeroed, and released with it. */
#ifndef BACKENDS_OPENCL_PROGRAM_MEMORY_H
#define BACKENDS_OPENCL_PROGRAM_MEMORY_H

#include "backends/opencl/program/queue.h"

/* If queue->counts, adds to counted_bytes and leaves *memory. */
int memory_make(struct queue *queue, size_t bytes, cl_mem *memory,
		struct error *err);
/* Makes the buffer in options.memory, if there is any. Other ranks read it
 * while it is mapped. */
int memory_make_shared(struct queue *queue, size_t bytes, cl_mem *memory,
		       struct error *err);

/* Makes the requested buffers of a pass. If memory runs out, err advises a
 * smaller batch. */
struct request {
	cl_mem *memory;
	int wanted; /* 0: not made */
	size_t bytes;
};
int memory_make_all(struct queue *queue, const struct request *requests,
		    int count, struct error *err);

int memory_clear(struct queue *queue, cl_mem memory, size_t bytes,
		 struct error *err);
/* Both wait for earlier commands, and until the bytes are copied. */
int memory_fetch(struct queue *queue, cl_mem memory, size_t bytes, void *to,
		 struct error *err);
int memory_write(struct queue *queue, cl_mem memory, size_t bytes,
		 const void *from, struct error *err);
/* Returns a copy of the bytes for free(), as by memory_fetch(); NULL on
 * failure. */
void *memory_copy(struct queue *queue, cl_mem memory, size_t bytes,
		  struct error *err);
/* Releases all but the oldest `kept` buffers. */
void memory_release(struct queue *queue, int kept);

#endif
