#include "backends/opencl/opencl.h"

int memory_clear(struct opencl_program *program, cl_mem memory, size_t bytes,
		 struct error *err)
{
	const cl_uchar zero = 0;
	cl_int status = clEnqueueFillBuffer(queue_next(program), memory, &zero,
					    sizeof(zero), 0, bytes, 0, NULL,
					    NULL);

	return status ? status_fail(err, "clEnqueueFillBuffer", status) : 0;
}

/* Zeroed; in the host's memory at place, unless that is NULL. */
static int make_at(struct opencl_program *program, void *place, size_t bytes,
		   cl_mem *memory, struct error *err)
{
	const struct opencl_device *device = program_device(program);
	const cl_mem_flags how = place ? CL_MEM_USE_HOST_PTR : 0;
	cl_int status;

	*memory = clCreateBuffer(device->context, CL_MEM_READ_WRITE | how,
				 bytes, place, &status);
	if (!*memory)
		return error_set(err, ERROR_FAILED,
				 "clCreateBuffer of %zu bytes: %s", bytes,
				 status_name(status));
	program->memories[program->memory_count++] = *memory;
	return memory_clear(program, *memory, bytes, err);
}

int memory_make(struct opencl_program *program, size_t bytes, cl_mem *memory,
		struct error *err)
{
	return make_at(program, NULL, bytes, memory, err);
}

int memory_make_seen(struct opencl_program *program, size_t bytes,
		     cl_mem *memory, struct error *err)
{
	struct allocator *allocator = program->base.options.memory;
	void *place = NULL;

	if (allocator) {
		place = allocator->allocate(allocator, bytes, err);
		if (!place)
			return -1;
	}
	return make_at(program, place, bytes, memory, err);
}

int memory_make_all(struct opencl_program *program,
		    const struct request *requests, size_t count,
		    struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (requests[i].wanted &&
		    memory_make(program, requests[i].bytes, requests[i].memory,
				err))
			return -1;
	return 0;
}

void memory_release(struct opencl_program *program, int kept)
{
	while (program->memory_count > kept)
		clReleaseMemObject(program->memories[--program->memory_count]);
}

int memory_fetch(struct opencl_program *program, cl_mem memory, size_t bytes,
		 void *to, struct error *err)
{
	cl_int status = clEnqueueReadBuffer(queue_next(program), memory,
					    CL_TRUE, 0, bytes, to, 0, NULL,
					    NULL);

	return status ? status_fail(err, "clEnqueueReadBuffer", status) : 0;
}
