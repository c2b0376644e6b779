/*
 * The slots of the OpenCL backend. A whole step stays on the device: images
 * and labels go in, and a loss for each sample comes out when it is finished.
 */
#include "backends/opencl/opencl.h"

#include "backends/opencl/class.h"

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
	cl_int status = clEnqueueWriteBuffer(queue_next(program), vector,
					     CL_TRUE, 0, bytes, values, 0, NULL,
					     NULL);

	return status ? status_fail(err, "clEnqueueWriteBuffer", status) : 0;
}

static int opencl_load(struct program *base, enum vector which, float *values,
		       struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	size_t bytes;
	const cl_mem vector = vector_of(program, which, &bytes);

	return memory_fetch(program, vector, bytes, values, err);
}

static float *opencl_map(struct program *base, enum vector which,
			 struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	cl_int status;

	program->mapped[which] = clEnqueueMapBuffer(
		queue_next(program), program->vectors[which], CL_TRUE,
		CL_MAP_READ | CL_MAP_WRITE, 0, base->length * sizeof(float), 0,
		NULL, NULL, &status);
	if (!program->mapped[which])
		status_fail(err, "clEnqueueMapBuffer", status);
	/* What came before it is done: that is part of the phase that ends. */
	else if (profile_finish(program, err))
		return NULL;
	return program->mapped[which];
}

static int opencl_unmap(struct program *base, enum vector which,
			struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	cl_int status = clEnqueueUnmapMemObject(
		queue_next(program), program->vectors[which],
		program->mapped[which], 0, NULL, NULL);

	program->mapped[which] = NULL;
	return status ? status_fail(err, "clEnqueueUnmapMemObject", status) :
			0;
}

/* All of a gradient but what a class leaves for the end of the step. */
static int run_batch(struct opencl_program *program, const struct batch *batch,
		     struct error *err)
{
	if (profile_start(program, err) || ahead_begin(program, err))
		return -1;
	program->count = batch->count;
	program->last = *batch;
	program->trained = 0;
	if (batch->count)
		return pass_run(program, &program->train, batch, err);
	return slot_clear(program, &program->train, err) ||
	       memory_clear(program, program->vectors[VECTOR_GRADIENT],
			    program->base.parameters * sizeof(float), err);
}

/* A class may have a way of its own to do both at once. */
static int trains_at_once(struct opencl_program *program,
			  const struct batch *batch,
			  const struct update *update)
{
	return update && batch->count && program_class(program)->train &&
	       update->optimizer == OPTIMIZER_ADADELTA;
}

int opencl_gradient(struct program *base, const struct batch *batch,
		    const struct update *update, struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	const struct device_class *class = program_class(program);

	if (run_batch(program, batch, err))
		return -1;
	if (trains_at_once(program, batch, update)) {
		program->trained = 1;
		return class->train(program, update, err);
	}
	if (batch->count && class->gradient && class->gradient(program, err))
		return -1;
	return update ? opencl_update(base, update, 0, base->length, err) : 0;
}

static int opencl_decisions(struct program *base, int layer, uint8_t *values,
			    struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	const int index = step_of(program, layer);
	const size_t choices =
		layer_decisions(&base->model->layers[layer],
				model_layer_input(base->model, layer));

	return program->count && choices ?
		       solver_of(program, index)->decisions(
			       program, index, layer, values, err) : 0;
}

int opencl_update(struct program *base, const struct update *update,
		  size_t from, size_t to, struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	const cl_uint range[] = { (cl_uint)from, (cl_uint)to };
	cl_float settings[UPDATE_SETTINGS];
	const int count = update_settings(update, settings);
	cl_int status;

	if (from == to)
		return 0;
	for (cl_uint i = 0; i < (cl_uint)count; i++) {
		status = clSetKernelArg(program->update.kernel, i,
					sizeof(settings[i]), &settings[i]);
		if (status)
			return status_fail(err, "clSetKernelArg", status);
	}
	if (launch_words(&program->update, count, range, 2, err) ||
	    launch_enqueue(program, &program->update, (int)(to - from), err))
		return -1;
	status = clFlush(program->queue);
	return status ? status_fail(err, "clFlush", status) : 0;
}

static int opencl_evaluate(struct program *base, const struct batch *batch,
			   struct score *score, struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	const size_t size = shape_size(base->model->input);
	struct pass *test = &program->test;

	for (test->slot = 0; test->slot * test->most < batch->count;
	     test->slot++) {
		const int at = test->slot * test->most;
		const int left = batch->count - at;
		struct batch slice = *batch;

		if (batch->images) {
			slice.images += (size_t)at * size;
			if (model_has_classes(base->model))
				slice.labels += at;
			else
				slice.targets +=
					(size_t)at *
					(size_t)model_classes(base->model);
		}
		slice.at += at * batch->stride;
		slice.count = left < test->most ? left : test->most;
		if (pass_run(program, test, &slice, err))
			return -1;
	}
	if (score_read(program, test, test->slot, err))
		return -1;
	for (int slot = 0; slot < test->slot; slot++)
		slot_add(test, slot, score);
	return 0;
}

const struct backend opencl_backend = {
	.version = BACKEND_VERSION,
	.name = "opencl",
	.summary = "an OpenCL device: the whole step in its kernels",
	.algorithms = 1u << ALGORITHM_FAST | 1u << ALGORITHM_DENSE,
	.precisions = 1u << PRECISION_FP32,
	.offloads = 1,
	.has_classes = 1,
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
	.hold = opencl_hold,
	.order = opencl_order,
	.decisions = opencl_decisions,
	.profile = opencl_profile,
};
