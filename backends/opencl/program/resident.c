#include "backends/opencl/program/slots.h"

#include <stdio.h>

#include "backends/opencl/device/class.h"
#include "backends/opencl/device/status.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/steps.h"

/* The share of a device's memory that the copies of a data set may take. */
#define RESIDENT_SHARE 4

static size_t set_bytes(const struct opencl_program *program,
			const struct resident_set *set)
{
	return (size_t)set->count * shape_size(program->base.model->input);
}

/* ERROR_MISSING if it does not. */
static int check_memory(const struct opencl_program *program,
			const struct resident_data *data, struct error *err)
{
	const struct opencl_device *device = program_device(program);
	const size_t train = set_bytes(program, &data->train);
	const size_t test = set_bytes(program, &data->test);
	const cl_ulong copies = (cl_ulong)device->parts;
	const cl_device_id id = device->chosen.device;
	cl_ulong all = 0, most = 0;
	char each[32] = "";

	if (device_info_get(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(all), &all,
			    err) ||
	    device_info_get(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(most),
			    &most, err))
		return -1;
	if (copies > 1)
		snprintf(each, sizeof(each), "%d times ", device->parts);
	if (copies * (train + test) > all / RESIDENT_SHARE)
		return error_set(err, ERROR_MISSING,
				 "%s%.1f MB is more than a quarter of the "
				 "device's memory of %.1f MB",
				 each, (double)(train + test) * 1e-6,
				 (double)all * 1e-6);
	if (train > most || test > most)
		return error_set(err, ERROR_MISSING,
				 "%.1f MB exceeds the device's largest "
				 "allocation, %.1f MB",
				 (double)(train > test ? train : test) * 1e-6,
				 (double)most * 1e-6);
	return 0;
}

/* A buffer of at least one byte, with these in it when this returns. */
static int memory_fill(struct opencl_program *program, const void *from,
		       size_t bytes, cl_mem *memory, struct error *err)
{
	if (memory_make(&program->queue, bytes ? bytes : 1, memory, err))
		return -1;
	return bytes ? memory_write(&program->queue, *memory, bytes, from,
				    err) : 0;
}

/* order: NULL for samples that stay as they are. */
static int gather_make(struct opencl_program *program, struct pass *pass,
		       const struct resident_set *set, cl_mem pixels,
		       cl_mem order, struct error *err)
{
	const struct tiling *tiling = &program_device(program)->class->tiling;
	const struct launch gather = { .name = "gather",
				       .items = { 1, 0, 1 },
				       .group_items = tiling->items,
				       .samples = 1,
				       .batch_arguments = 6 };
	const cl_uint size = (cl_uint)shape_size(program->base.model->input);
	cl_mem memories[] = { NULL, NULL, order, pixels, pass->images,
			      pass->labels };

	if (memory_fill(program, set->images, set_bytes(program, set),
			&memories[0], err) ||
	    memory_fill(program, set->labels,
			(size_t)set->count * sizeof(*set->labels),
			&memories[1], err) ||
	    launch_make(&pass->gather, &gather, program->common, memories,
			COUNT(memories), err) ||
	    launch_words(&pass->gather, 12, &size, 1, err))
		return -1;
	pass->gather.part = pass->training ? PART_GATHER : PART_NONE;
	return 0;
}

/* As in program_warm: each grid once, here of the first sample again and
 * again, which the order of zeros has at every place. */
static int gather_warm(struct opencl_program *program, struct pass *pass,
		       const struct resident_set *set, struct error *err)
{
	const cl_uint nothing[6] = { 0 };

	if (!set->count)
		return 0;
	return launch_words(&pass->gather, 0, nothing, 6, err) ||
	       launch_enqueue(&program->queue, &pass->gather, pass->most, err);
}

static int copy(struct opencl_program *program,
		const struct resident_data *data, struct error *err)
{
	cl_mem pixels;
	cl_int status;

	if (memory_make(&program->queue, (size_t)(data->train.count + 1) *
				 sizeof(cl_int), &program->order, err) ||
	    memory_fill(program, data->pixels, sizeof(data->pixels), &pixels,
			err) ||
	    gather_make(program, &program->train, &data->train, pixels,
			program->order, err) ||
	    gather_make(program, &program->test, &data->test, pixels, NULL,
			err) ||
	    gather_warm(program, &program->train, &data->train, err) ||
	    gather_warm(program, &program->test, &data->test, err))
		return -1;
	status = clFinish(program->queue.commands);
	return status ? allocation_fail(err, status, "clFinish") : 0;
}

/* Others may use the memory that the device reports. */
static void release_data(struct opencl_program *program)
{
	clFinish(program->queue.commands); /* with what may still be read */
	launch_release(&program->train.gather);
	launch_release(&program->test.gather);
	memory_release(&program->queue, program->queue.own_memories);
	program->order = NULL;
}

int opencl_upload_data(struct program *base, const struct resident_data *data,
		       struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;

	if (!data) {
		release_data(program);
		return 0;
	}
	if (check_memory(program, data, err))
		return -1;
	if (!copy(program, data, err))
		return 0;
	release_data(program);
	if (err->memory)
		err->kind = ERROR_MISSING;
	return -1;
}

int opencl_order(struct program *base, const int *order, int count,
		 struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;

	return memory_write(&program->queue, program->order,
			    (size_t)count * sizeof(*order), order, err);
}
