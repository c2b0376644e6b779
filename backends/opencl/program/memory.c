#include "backends/opencl/program/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/host/host.h"
#include "backends/opencl/device/status.h"

int memory_clear(struct queue *queue, cl_mem memory, size_t bytes,
		 struct error *err)
{
	const cl_uchar zero = 0;
	cl_int status = clEnqueueFillBuffer(queue_next(queue), memory, &zero,
					    sizeof(zero), 0, bytes, 0, NULL,
					    NULL);

	return status ? allocation_fail(err, status, "clEnqueueFillBuffer") : 0;
}

static void CL_CALLBACK host_free(cl_mem memory, void *host)
{
	(void)memory;
	free(host);
}

/* Zeroed; in the host's memory at place, unless that is NULL, which is freed
 * with the buffer if that owns it, and at once if there is none. */
static int make_at(struct queue *queue, void *place, int owns, size_t bytes,
		   cl_mem *memory, struct error *err)
{
	const struct opencl_device *device = queue_device(queue);
	const cl_mem_flags flags = place ? CL_MEM_USE_HOST_PTR : 0;
	cl_int status;

	*memory = clCreateBuffer(device->context, CL_MEM_READ_WRITE | flags,
				 bytes, place, &status);
	if (*memory && owns) {
		status = clSetMemObjectDestructorCallback(*memory, host_free,
							  place);
		if (status) {
			clReleaseMemObject(*memory);
			*memory = NULL;
		}
	}
	if (!*memory && owns)
		free(place);
	if (!*memory)
		return allocation_fail(err, status,
				       "clCreateBuffer of %zu bytes", bytes);
	queue->memories[queue->memory_count++] = *memory;
	return memory_clear(queue, *memory, bytes, err);
}

int memory_make(struct queue *queue, size_t bytes, cl_mem *memory,
		struct error *err)
{
	/* A CPU computes where the buffer lies: in pages that may be huge. */
	const int here = !strcmp(queue_device(queue)->chosen.info.type, "CPU");
	void *place;

	if (queue->counts) {
		queue->counted_bytes += (double)bytes;
		return 0;
	}
	place = here ? host_allocate(bytes) : NULL;
	if (here && !place)
		return error_memory(err, "a buffer of a device");
	return make_at(queue, place, here, bytes, memory, err);
}

int memory_make_shared(struct queue *queue, size_t bytes, cl_mem *memory,
		       struct error *err)
{
	struct allocator *allocator = queue->program->options.memory;
	void *place;

	if (!allocator)
		return memory_make(queue, bytes, memory, err);
	place = allocator->allocate(allocator, bytes, err);
	return place ? make_at(queue, place, 0, bytes, memory, err) : -1;
}

/* Adds to an error of a buffer how much memory there is, and what to do. */
static void explain_memory(const struct queue *queue, size_t bytes,
			   struct error *err)
{
	const cl_device_id id = queue_device(queue)->chosen.device;
	const size_t length = strlen(err->message);
	cl_ulong all = 0, most = 0;
	struct error other;

	if (device_info_get(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(all), &all,
			    &other) ||
	    device_info_get(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(most),
			    &most, &other) ||
	    (!err->memory && bytes <= most))
		return;
	snprintf(err->message + length, sizeof(err->message) - length,
		 "; the device has %.1f MB, at most %.1f MB of it in one "
		 "buffer: choose a smaller --batch", (double)all * 1e-6,
		 (double)most * 1e-6);
}

int memory_make_all(struct queue *queue, const struct request *requests,
		    int count, struct error *err)
{
	for (int i = 0; i < count; i++)
		if (requests[i].wanted &&
		    memory_make(queue, requests[i].bytes, requests[i].memory,
				err)) {
			explain_memory(queue, requests[i].bytes, err);
			return -1;
		}
	return 0;
}

void memory_release(struct queue *queue, int kept)
{
	while (queue->memory_count > kept)
		clReleaseMemObject(queue->memories[--queue->memory_count]);
}

int memory_fetch(struct queue *queue, cl_mem memory, size_t bytes, void *to,
		 struct error *err)
{
	cl_int status = clEnqueueReadBuffer(queue_next(queue), memory, CL_TRUE,
					    0, bytes, to, 0, NULL, NULL);

	return status ? status_fail(err, "clEnqueueReadBuffer", status) : 0;
}

int memory_write(struct queue *queue, cl_mem memory, size_t bytes,
		 const void *from, struct error *err)
{
	cl_int status = clEnqueueWriteBuffer(queue_next(queue), memory, CL_TRUE,
					     0, bytes, from, 0, NULL, NULL);

	return status ? allocation_fail(err, status, "clEnqueueWriteBuffer") :
			0;
}

void *memory_copy(struct queue *queue, cl_mem memory, size_t bytes,
		  struct error *err)
{
	void *copy = malloc(bytes);

	if (!copy) {
		error_memory(err, "a copy of a buffer");
	} else if (memory_fetch(queue, memory, bytes, copy, err)) {
		free(copy);
		copy = NULL;
	}
	return copy;
}
