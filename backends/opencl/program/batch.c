#include "backends/opencl/program/batch.h"

#include <string.h>

#include "backends/opencl/device/class.h"
#include "backends/opencl/device/status.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/recipe.h"
#include "backends/opencl/program/rounding.h"
#include "backends/opencl/program/scores.h"
#include "backends/opencl/program/slots.h"
#include "backends/opencl/program/steps.h"

/* Not waited for: the batch is ours until the program is finished. */
static int upload(struct queue *queue, enum command part, cl_mem to,
		  const void *from, size_t bytes, struct error *err)
{
	cl_int status = clEnqueueWriteBuffer(queue_next(queue), to, CL_FALSE, 0,
					     bytes, from, 0, NULL,
					     queue_event(queue, part));

	return status ? status_fail(err, "clEnqueueWriteBuffer", status) : 0;
}

static int upload_batch(struct opencl_program *program,
			const struct pass *pass, const struct batch *batch,
			struct error *err)
{
	const size_t size = shape_size(program->base.model->input);
	const size_t count = (size_t)batch->count;

	return upload(&program->queue,
		      pass->training ? PART_IMAGES : PART_NONE, pass->images,
		      batch->images, count * size * sizeof(*batch->images),
		      err) ||
	       upload(&program->queue,
		      pass->training ? PART_LABELS : PART_NONE, pass->labels,
		      model_has_classes(program->base.model) ?
			      (const void *)batch->labels : batch->targets,
		      count * target_bytes(program), err);
}

static int launch_batch(struct opencl_program *program, const struct pass *pass,
			struct launch *launch, const struct batch *batch,
			struct error *err)
{
	/* A kernel takes as many of these as it needs, in this order. */
	const cl_float scale = (cl_float)storage_loss_scale(batch);
	cl_uint arguments[] = {
		(cl_uint)batch->count, (cl_uint)batch->global_count,
		batch->step, (cl_uint)batch->place, (cl_uint)batch->stride,
		(cl_uint)batch->at, (cl_uint)pass->slot, 0
	};

	memcpy(&arguments[COUNT(arguments) - 1], &scale, sizeof(scale));

	return launch_words(launch, 0, arguments, launch->batch_arguments,
			    err) ||
	       launch_enqueue(&program->queue, launch, batch->count, err);
}

int batch_run(struct opencl_program *program, struct pass *pass,
	      const struct batch *batch, struct error *err)
{
	if (batch->images ? upload_batch(program, pass, batch, err) :
			    launch_batch(program, pass, &pass->gather, batch,
					 err))
		return -1;
	for (int i = 0; i < pass->launch_count; i++)
		if (launch_batch(program, pass, &pass->launches[i], batch,
				 err))
			return -1;
	return queue_flush(&program->queue, err);
}

int opencl_update(struct program *base, const struct update *update,
		  size_t from, size_t to, struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	cl_uint words[UPDATE_WORDS + 2];
	int count = update_words(update, words);

	if (from == to)
		return 0;
	words[count++] = (cl_uint)from;
	words[count++] = (cl_uint)to;
	if (rounding_update(program, from, to, 0, err) ||
	    launch_words(&program->update, 0, words, count, err) ||
	    launch_enqueue(&program->queue, &program->update, (int)(to - from),
			   err) ||
	    rounding_update(program, from, to, 1, err))
		return -1;
	return queue_flush(&program->queue, err);
}

/* All of a gradient but what a class leaves for the end of the step. */
static int run_batch(struct opencl_program *program, const struct batch *batch,
		     struct error *err)
{
	if (queue_time(&program->queue, err) || ahead_begin(program, err))
		return -1;
	program->count = batch->count;
	program->last = *batch;
	program->trained = 0;
	if (batch->count)
		return batch_run(program, &program->train, batch, err);
	return slot_clear(program, &program->train, err) ||
	       memory_clear(&program->queue, program->vectors[VECTOR_GRADIENT],
			    program->base.parameters * sizeof(float), err);
}

/* A class may have a way of its own to do both at once. */
static int trains_at_once(struct opencl_program *program,
			  const struct batch *batch,
			  const struct update *update)
{
	return update && batch->count && program_class(program)->train &&
	       !precision_rounds(program->storage.precision) &&
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

/* What the loss of the last batch of a pass was computed of. */
static int read_outputs(struct opencl_program *program, const struct pass *pass,
			const struct batch *batch, struct error *err)
{
	const int loss = program->plan.count - 1;
	const size_t none[] = { 0, 0, 0 };
	const size_t row = (size_t)model_classes(program->base.model) *
			   sizeof(float);
	const size_t region[] = { row, (size_t)batch->count, 1 };
	const cl_int status = clEnqueueReadBufferRect(
		queue_next(&program->queue), step_input(program, pass, loss),
		CL_TRUE, none, none, region,
		(size_t)layout_input(program, loss).sample * sizeof(float), 0,
		row, 0, batch->outputs, 0, NULL, NULL);

	return status ? status_fail(err, "clEnqueueReadBufferRect", status) : 0;
}

/* Sample at of the batch and those after it, as many as the pass takes. */
static struct batch slice_of(const struct opencl_program *program,
			     const struct batch *batch, int at)
{
	const struct model *model = program->base.model;
	const size_t outputs = (size_t)model_classes(model);
	const int left = batch->count - at, most = program->test.most;
	struct batch slice = *batch;

	if (batch->images) {
		slice.images += (size_t)at * shape_size(model->input);
		if (model_has_classes(model))
			slice.labels += at;
		else
			slice.targets += (size_t)at * outputs;
	}
	if (batch->outputs)
		slice.outputs += (size_t)at * outputs;
	slice.at += at * batch->stride;
	slice.count = left < most ? left : most;
	return slice;
}

int opencl_evaluate(struct program *base, const struct batch *batch,
		    struct score *score, struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	struct pass *test = &program->test;

	for (test->slot = 0; test->slot * test->most < batch->count;
	     test->slot++) {
		const struct batch slice =
			slice_of(program, batch, test->slot * test->most);

		if (batch_run(program, test, &slice, err) ||
		    (slice.outputs && read_outputs(program, test, &slice, err)))
			return -1;
	}
	if (score_read(program, test, test->slot, err))
		return -1;
	for (int slot = 0; slot < test->slot; slot++)
		slot_add(test, slot, score);
	return 0;
}
