/* Running what was bound: kernels and passes. */
#include "backends/opencl/opencl.h"

#include <stdlib.h>
#include <string.h>

static int argument_set(struct launch *launch, cl_uint index, size_t size,
			const void *value, struct error *err)
{
	cl_int status = clSetKernelArg(launch->kernel, index, size, value);

	return status ? room_fail(err, status, "clSetKernelArg %u of kernel %s",
				  (unsigned)index, launch->name) : 0;
}

cl_command_queue queue_next(struct opencl_program *program)
{
	program->base.launches++;
	return program->queue;
}

int launch_words(struct launch *launch, int first, const cl_uint *words,
		 int count, struct error *err)
{
	for (int i = 0; i < count; i++)
		if (argument_set(launch, (cl_uint)(first + i),
				 sizeof(words[i]), &words[i], err))
			return -1;
	return 0;
}

/* What registers and local memory leave room for may be less than the device's
 * limit. A program is built for one device. */
static int group_check(const struct launch *launch, cl_program built,
		       struct error *err)
{
	cl_device_id device = NULL;
	size_t most = 0;
	cl_int status;

	if (launch->group_items <= 1)
		return 0;
	status = clGetProgramInfo(built, CL_PROGRAM_DEVICES, sizeof(device),
				  &device, NULL);
	if (status)
		return status_fail(err, "clGetProgramInfo", status);
	status = clGetKernelWorkGroupInfo(launch->kernel, device,
					  CL_KERNEL_WORK_GROUP_SIZE,
					  sizeof(most), &most, NULL);
	if (status)
		return status_fail(err, "clGetKernelWorkGroupInfo", status);
	if ((size_t)launch->group_items <= most)
		return 0;
	return error_set(err, ERROR_MISSING,
			 "kernel %s has work-groups of %d items, of which this "
			 "device takes %zu; choose --device-class cpu",
			 launch->name, launch->group_items, most);
}

int launch_make(struct launch *launch, const struct launch *how,
		cl_program built, const cl_mem *memories, int memory_count,
		struct error *err)
{
	cl_int status;

	*launch = *how;
	launch->kernel = clCreateKernel(built, how->name, &status);
	if (!launch->kernel)
		return room_fail(err, status, "clCreateKernel of %s",
				 how->name);
	if (group_check(launch, built, err))
		return -1;
	for (int i = 0; i < memory_count; i++)
		if (argument_set(launch, (cl_uint)(how->batch_arguments + i),
				 sizeof(memories[i]), &memories[i], err))
			return -1;
	return 0;
}

int pass_add(struct pass *pass, const struct launch *how, cl_program built,
	     const cl_mem *memories, int memory_count, struct error *err)
{
	const int part = PART_LAUNCHES + pass->launch_count;
	/* Counted first, so that a half-made one is released too. */
	struct launch *launch = &pass->launches[pass->launch_count++];
	int failed = launch_make(launch, how, built, memories, memory_count,
				 err);

	launch->part = pass->training && part < PARTS ? part : PART_NONE;
	return failed;
}

/* Drivers finish compiling a kernel when it first runs, in a thread of theirs:
 * nothing is asked of them meanwhile, and what fails is known by its name. */
static int first_finish(const struct opencl_program *program,
			struct launch *launch, struct error *err)
{
	cl_int status = launch->has_run ? CL_SUCCESS :
					  clFinish(program->queue);

	launch->has_run = 1;
	return status ? room_fail(err, status, "clFinish behind %s",
				  launch->name) : 0;
}

int launch_enqueue(struct opencl_program *program, struct launch *launch,
		   int count, struct error *err)
{
	const size_t group[3] = {
		launch->group_items ? (size_t)launch->group_items : 1, 1, 1
	};
	size_t items[3];
	cl_int status;

	for (int d = 0; d < 3; d++)
		items[d] = group[d] *
			   (launch->items[d] ?
				    (size_t)launch->items[d] :
				    (size_t)round_up(count, launch->samples) /
					    (size_t)launch->samples);
	status = clEnqueueNDRangeKernel(queue_next(program), launch->kernel, 3,
					NULL, items, group, 0, NULL,
					profile_event(program, launch->part));
	return status ? room_fail(err, status, "clEnqueueNDRangeKernel of %s",
				  launch->name) :
			first_finish(program, launch, err);
}

/* Not waited for: the batch is ours until the program is finished. */
static int upload(struct opencl_program *program, enum command part, cl_mem to,
		  const void *from, size_t bytes, struct error *err)
{
	cl_int status = clEnqueueWriteBuffer(queue_next(program), to, CL_FALSE,
					     0, bytes, from, 0, NULL,
					     profile_event(program, part));

	return status ? status_fail(err, "clEnqueueWriteBuffer", status) : 0;
}

static int upload_batch(struct opencl_program *program,
			const struct pass *pass, const struct batch *batch,
			struct error *err)
{
	const size_t size = shape_size(program->base.model->input);
	const size_t count = (size_t)batch->count;

	return upload(program, pass->training ? PART_IMAGES : PART_NONE,
		      pass->images, batch->images,
		      count * size * sizeof(*batch->images), err) ||
	       upload(program, pass->training ? PART_LABELS : PART_NONE,
		      pass->labels,
		      model_has_classes(program->base.model) ?
			      (const void *)batch->labels : batch->targets,
		      count * target_bytes(program), err);
}

static int launch_batch(struct opencl_program *program, const struct pass *pass,
			struct launch *launch, const struct batch *batch,
			struct error *err)
{
	/* A kernel takes as many of these as it needs, in this order. */
	const cl_uint arguments[] = {
		(cl_uint)batch->count, (cl_uint)batch->global_count,
		batch->step, (cl_uint)batch->place, (cl_uint)batch->stride,
		(cl_uint)batch->at, (cl_uint)pass->slot,
	};

	return launch_words(launch, 0, arguments, launch->batch_arguments,
			    err) ||
	       launch_enqueue(program, launch, batch->count, err);
}

int pass_run(struct opencl_program *program, struct pass *pass,
	     const struct batch *batch, struct error *err)
{
	cl_int status;

	if (batch->images ? upload_batch(program, pass, batch, err) :
			    launch_batch(program, pass, &pass->gather, batch,
					 err))
		return -1;
	for (int i = 0; i < pass->launch_count; i++)
		if (launch_batch(program, pass, &pass->launches[i], batch,
				 err))
			return -1;
	status = clFlush(program->queue);
	return status ? status_fail(err, "clFlush", status) : 0;
}

void launch_release(struct launch *launch)
{
	if (launch->kernel)
		clReleaseKernel(launch->kernel);
	launch->kernel = NULL;
}

void pass_release(struct pass *pass)
{
	while (pass->launch_count)
		launch_release(&pass->launches[--pass->launch_count]);
	launch_release(&pass->gather);
	free(pass->host_scores);
}
