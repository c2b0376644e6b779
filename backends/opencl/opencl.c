/*
 * The slots of the OpenCL backend. A whole step stays on the device: images
 * and labels go in, and a loss for each sample comes out when it is finished.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/opencl/device/status.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/program.h"
#include "backends/opencl/program/slots.h"

static cl_mem vector_of(const struct opencl_program *program, enum vector which,
			size_t *bytes)
{
	const struct program *base = &program->base;

	*bytes = sizeof(float) * (which == VECTOR_BUFFERS ? base->buffers :
							    base->parameters);
	return which == VECTOR_BUFFERS ? program->buffers :
					 program->vectors[which];
}

static int opencl_store(struct program *base, enum vector which,
			const float *values, struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	size_t bytes;
	const cl_mem vector = vector_of(program, which, &bytes);
	const enum precision precision = base->options.precision;
	float *nearest;
	int failed;

	if (!storage_rounds_vectors(precision))
		return memory_write(&program->queue, vector, bytes, values,
				    err);
	nearest = malloc(bytes);
	if (!nearest)
		return error_memory(err, "a vector in another precision");
	memcpy(nearest, values, bytes);
	storage_round(precision, nearest, bytes / sizeof(*nearest));
	failed = memory_write(&program->queue, vector, bytes, nearest, err);
	free(nearest);
	return failed;
}

static int opencl_load(struct program *base, enum vector which, float *values,
		       struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	size_t bytes;
	const cl_mem vector = vector_of(program, which, &bytes);

	return memory_fetch(&program->queue, vector, bytes, values, err);
}

static float *opencl_map(struct program *base, enum vector which,
			 struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	cl_int status;

	program->mapped[which] = clEnqueueMapBuffer(
		queue_next(&program->queue), program->vectors[which], CL_TRUE,
		CL_MAP_READ | CL_MAP_WRITE, 0, base->length * sizeof(float), 0,
		NULL, NULL, &status);
	if (!program->mapped[which])
		status_fail(err, "clEnqueueMapBuffer", status);
	/* What came before it is done: that is part of the phase that ends. */
	else if (queue_report(&program->queue, err))
		return NULL;
	return program->mapped[which];
}

static int opencl_unmap(struct program *base, enum vector which,
			struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	cl_int status = clEnqueueUnmapMemObject(
		queue_next(&program->queue), program->vectors[which],
		program->mapped[which], 0, NULL, NULL);

	program->mapped[which] = NULL;
	return status ? status_fail(err, "clEnqueueUnmapMemObject", status) :
			0;
}

const struct backend opencl_backend = {
	.version = BACKEND_VERSION,
	.name = "opencl",
	.summary = "an OpenCL device: the whole step in its kernels",
	.algorithms = 1u << ALGORITHM_FAST | 1u << ALGORITHM_DENSE,
	.precisions = 1u << PRECISION_FP32 | 1u << PRECISION_FP16 |
		      1u << PRECISION_BF16_STORAGE,
	.offloads = 1,
	.has_device_classes = 1,
	.trains_at_once = 1,
	.runs_ahead = 1,
	.list = opencl_list,
	.sample_bytes = opencl_sample_bytes,
	.open = opencl_open,
	.close = opencl_close,
	.describe = opencl_describe,
	.compile = opencl_compile,
	.free = opencl_free,
	.store = opencl_store,
	.load = opencl_load,
	.map = opencl_map,
	.unmap = opencl_unmap,
	.gradient = opencl_gradient,
	.update = opencl_update,
	.evaluate = opencl_evaluate,
	.finish = opencl_finish,
	.upload_data = opencl_upload_data,
	.order = opencl_order,
	.decisions = opencl_decisions,
	.profile = opencl_profile,
};
