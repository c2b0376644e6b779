/* Buffers of a program, zeroed, which are released with it. */
#ifndef BACKENDS_OPENCL_PROGRAM_MEMORY_H
#define BACKENDS_OPENCL_PROGRAM_MEMORY_H

#include "backends/opencl/program/queue.h"

/* Where it is only counted, *memory stays. */
int memory_make(struct queue *queue, size_t bytes, cl_mem *memory,
		struct error *err);
/* In the options' memory, if there is any, which others read while the buffer
 * is mapped. */
int memory_make_shared(struct queue *queue, size_t bytes, cl_mem *memory,
		       struct error *err);

/* Makes those that are wanted, of a pass: if memory runs out, err advises a
 * smaller batch. */
struct request {
	cl_mem *memory;
	int wanted;
	size_t bytes;
};
int memory_make_all(struct queue *queue, const struct request *requests,
		    int count, struct error *err);

int memory_clear(struct queue *queue, cl_mem memory, size_t bytes,
		 struct error *err);
/* Both wait for what comes before, and until the bytes are copied. */
int memory_fetch(struct queue *queue, cl_mem memory, size_t bytes, void *to,
		 struct error *err);
int memory_write(struct queue *queue, cl_mem memory, size_t bytes,
		 const void *from, struct error *err);
/* As memory_fetch(), to what is to be freed; NULL on failure. */
void *memory_copy(struct queue *queue, cl_mem memory, size_t bytes,
		  struct error *err);
/* All but the oldest `kept` of them. */
void memory_release(struct queue *queue, int kept);

#endif
