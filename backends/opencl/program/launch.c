#include "backends/opencl/program/launch.h"

#include "backends/opencl/device/status.h"

int round_up(int n, int multiple)
{
	return (n + multiple - 1) / multiple * multiple;
}

int parts_of(int n, int each)
{
	return (n + each - 1) / each;
}

int largest_divisor(int n, int most)
{
	int divisor = most < 1 ? 1 : most;

	while (n % divisor)
		divisor--;
	return divisor;
}

static int argument_set(struct launch *launch, cl_uint index, size_t size,
			const void *value, struct error *err)
{
	cl_int status = clSetKernelArg(launch->kernel, index, size, value);

	return status ? allocation_fail(err, status,
					"clSetKernelArg %u of kernel %s",
					(unsigned)index, launch->name) : 0;
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
			 "kernel %s needs work-groups of %d items, but this "
			 "device allows %zu; choose --device-class cpu",
			 launch->name, launch->group_items, most);
}

int launch_make(struct launch *launch, const struct launch *prototype,
		cl_program built, const cl_mem *memories, int memory_count,
		struct error *err)
{
	cl_int status;

	*launch = *prototype;
	launch->kernel = clCreateKernel(built, prototype->name, &status);
	if (!launch->kernel)
		return allocation_fail(err, status, "clCreateKernel of %s",
				       prototype->name);
	if (group_check(launch, built, err))
		return -1;
	for (int i = 0; i < memory_count; i++)
		if (argument_set(launch,
				 (cl_uint)(launch->batch_arguments + i),
				 sizeof(memories[i]), &memories[i], err))
			return -1;
	return 0;
}

/* Drivers finish compiling a kernel when it first runs, in a thread of theirs:
 * no call of them is made meanwhile, and what fails is known by its name. */
static int first_finish(const struct queue *queue, struct launch *launch,
			struct error *err)
{
	cl_int status = launch->has_run ? CL_SUCCESS :
					  clFinish(queue->commands);

	launch->has_run = 1;
	return status ? allocation_fail(err, status, "clFinish after %s",
					launch->name) : 0;
}

int launch_enqueue(struct queue *queue, struct launch *launch, int count,
		   struct error *err)
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
				    (size_t)parts_of(count, launch->samples));
	status = clEnqueueNDRangeKernel(queue_next(queue), launch->kernel, 3,
					NULL, items, group, 0, NULL,
					queue_event(queue, launch->part));
	return status ? allocation_fail(err, status,
					"clEnqueueNDRangeKernel of %s",
					launch->name) :
			first_finish(queue, launch, err);
}

void launch_release(struct launch *launch)
{
	if (launch->kernel)
		clReleaseKernel(launch->kernel);
	launch->kernel = NULL;
}
