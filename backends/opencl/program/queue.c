#include "backends/opencl/program/queue.h"

#include "backends/opencl/device/status.h"

const struct opencl_device *queue_device(const struct queue *queue)
{
	return (const struct opencl_device *)queue->program->device;
}

static cl_command_queue commands_make(const struct queue *queue,
				      cl_command_queue_properties properties,
				      struct error *err)
{
	const struct opencl_device *device = queue_device(queue);
	cl_int status;
	cl_command_queue commands = clCreateCommandQueue(
		device->context, device->chosen.device, properties, &status);

	if (!commands)
		status_fail(err, "clCreateCommandQueue", status);
	return commands;
}

int queue_open(struct queue *queue, struct program *program, struct error *err)
{
	queue->program = program;
	queue->commands = commands_make(queue, 0, err);
	return queue->commands ? 0 : -1;
}

cl_command_queue queue_next(struct queue *queue)
{
	queue->program->launches++;
	return queue->commands;
}

int queue_flush(const struct queue *queue, struct error *err)
{
	cl_int status = clFlush(queue->commands);

	return status ? status_fail(err, "clFlush", status) : 0;
}

/* They either take times or do not, from their beginning. */
int queue_time(struct queue *queue, struct error *err)
{
	cl_command_queue commands;

	if (queue->timed || !queue->program->observer)
		return 0;
	commands = commands_make(queue, CL_QUEUE_PROFILING_ENABLE, err);
	if (!commands)
		return -1;
	clFinish(queue->commands);
	clReleaseCommandQueue(queue->commands);
	queue->commands = commands;
	queue->timed = 1;
	return 0;
}

cl_event *queue_event(struct queue *queue, int part)
{
	cl_event *event = &queue->events[part];

	if (!queue->timed || !queue->program->observer || part == PART_NONE)
		return NULL;
	if (*event)
		clReleaseEvent(*event);
	*event = NULL;
	return event;
}

static int report_part(const struct queue *queue, int part, struct error *err)
{
	struct profile_observer *observer = queue->program->observer;
	const cl_event event = queue->events[part];
	cl_ulong start = 0, end = 0;
	cl_int status = clGetEventProfilingInfo(event,
						CL_PROFILING_COMMAND_START,
						sizeof(start), &start, NULL);

	if (!status)
		status = clGetEventProfilingInfo(event,
						 CL_PROFILING_COMMAND_END,
						 sizeof(end), &end, NULL);
	if (status)
		return status_fail(err, "clGetEventProfilingInfo", status);
	observer->spent(observer, part, (double)(end - start) * 1e-9);
	return 0;
}

static void events_release(struct queue *queue)
{
	for (int part = 0; part < PARTS; part++) {
		if (queue->events[part])
			clReleaseEvent(queue->events[part]);
		queue->events[part] = NULL;
	}
}

int queue_report(struct queue *queue, struct error *err)
{
	int failed = 0;

	if (!queue->timed)
		return 0;
	for (int part = 0; part < PARTS; part++)
		if (queue->events[part] && queue->program->observer)
			failed |= report_part(queue, part, err);
	events_release(queue);
	return failed;
}

void queue_close(struct queue *queue)
{
	events_release(queue);
	if (queue->commands)
		clReleaseCommandQueue(queue->commands);
}
