/*
 * The slots of the OpenCL backend. A whole step stays on the device: images
 * and labels go in, and a loss for each sample comes out when it is finished.
 */
#include "backends/opencl/opencl.h"

#include "backends/opencl/class.h"

static int opencl_store(struct program *base, enum vector which,
			const float *values, struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	cl_int status = clEnqueueWriteBuffer(
		queue_next(program), program->vectors[which], CL_TRUE, 0,
		base->parameters * sizeof(*values), values, 0, NULL, NULL);

	return status ? status_fail(err, "clEnqueueWriteBuffer", status) : 0;
}

static int opencl_load(struct program *base, enum vector which, float *values,
		       struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	cl_int status = clEnqueueReadBuffer(
		queue_next(program), program->vectors[which], CL_TRUE, 0,
		base->parameters * sizeof(*values), values, 0, NULL, NULL);

	return status ? status_fail(err, "clEnqueueReadBuffer", status) : 0;
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

int opencl_gradient(struct program *base, const struct batch *batch,
		    struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;

	if (run_batch(program, batch, err))
		return -1;
	return batch->count && program_class(program)->gradient ?
		       program_class(program)->gradient(program, err) : 0;
}

int opencl_train(struct program *base, const struct batch *batch,
		 const struct update *update, struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;

	if (!program_class(program)->train || !batch->count)
		return opencl_gradient(base, batch, err) ||
				       opencl_update(base, update, 0,
						     base->length, err) ?
			       -1 : 0;
	if (run_batch(program, batch, err))
		return -1;
	program->trained = 1;
	return program_class(program)->train(program, update, err);
}

static int opencl_decisions(struct program *base, int layer, uint8_t *values,
			    struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	const size_t choices =
		layer_decisions(&base->model->layers[layer],
				model_layer_input(base->model, layer));

	return program->count && choices ?
		       program_class(program)->decisions(program, layer, values,
						    err) :
		       0;
}

int opencl_update(struct program *base, const struct update *update,
		  size_t from, size_t to, struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	const cl_float settings[] = { (cl_float)update->lr,
				      (cl_float)update->rho,
				      (cl_float)(1 - update->rho),
				      (cl_float)update->eps };
	const cl_uint range[] = { (cl_uint)from, (cl_uint)to };
	cl_int status;

	if (from == to)
		return 0;
	for (cl_uint i = 0; i < 4; i++) {
		status = clSetKernelArg(program->update.kernel, i,
					sizeof(settings[i]), &settings[i]);
		if (status)
			return status_fail(err, "clSetKernelArg", status);
	}
	if (launch_words(&program->update, 4, range, 2, err) ||
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
			slice.labels += at;
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

static int opencl_finish(struct program *base, struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	const int last = program->unfinished - 1;
	cl_int status;

	if (last >= 0) {
		if (score_read(program, &program->train, last + 1, err))
			return -1;
		base->score = (struct score){ 0 };
		slot_add(&program->train, last, &base->score);
		program->unfinished = 0;
	}
	status = clFinish(program->queue);
	return status ? status_fail(err, "clFinish", status) :
			profile_finish(program, err);
}

static void opencl_explain(struct program *base, char *text, size_t size)
{
	plan_explain(&((struct opencl_program *)base)->plan, text, size);
}

const struct backend opencl_backend = {
	.name = "opencl",
	.summary = "an OpenCL device: the whole step in its kernels",
	.algorithms = 1u << ALGORITHM_FAST | 1u << ALGORITHM_DENSE,
	.precisions = 1u << PRECISION_FP32,
	.offloads = 1,
	.has_classes = 1,
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
	.train = opencl_train,
	.evaluate = opencl_evaluate,
	.finish = opencl_finish,
	.scores = opencl_scores,
	.hold = opencl_hold,
	.let_go = opencl_let_go,
	.order = opencl_order,
	.decisions = opencl_decisions,
	.explain = opencl_explain,
	.profile = opencl_profile,
};
