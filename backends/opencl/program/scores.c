#include "backends/opencl/program/scores.h"

#include <assert.h>
#include <stdlib.h>

#include "backends/opencl/device/class.h"
#include "backends/opencl/device/status.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/slots.h"
#include "backends/opencl/program/steps.h"

#define SLOT_FLOATS 4 /* as in score.cl */

int score_make(struct opencl_program *program, struct pass *pass, int slots,
	       struct error *err)
{
	const struct launch score = { .name = "score",
				      .items = { 1, 1, 1 },
				      .batch_arguments = 7,
				      .work = { .step =
						program->plan.count - 1 } };
	const size_t bytes = (size_t)slots * SLOT_FLOATS * sizeof(float);
	cl_mem memories[] = { pass->outcomes, NULL };

	pass->slots = slots;
	pass->host_scores = calloc(1, bytes);
	if (!pass->host_scores)
		return error_memory(err, "the scores of batches");
	if (memory_make(&program->queue, bytes, &pass->scores, err))
		return -1;
	if (pass->training && program_device(program)->class->ends_with_score)
		return 0;
	memories[1] = pass->scores;
	return pass_add(pass, &score, program->common, memories, 2, err);
}

int score_read(struct opencl_program *program, struct pass *pass, int slots,
	       struct error *err)
{
	cl_int status = clEnqueueReadBuffer(
		queue_next(&program->queue), pass->scores, CL_TRUE, 0,
		(size_t)slots * SLOT_FLOATS * sizeof(float), pass->host_scores,
		0, NULL, queue_event(&program->queue,
				     pass->training ? PART_SCORE : PART_NONE));

	return status ? status_fail(err, "clEnqueueReadBuffer", status) : 0;
}

int slot_clear(struct opencl_program *program, const struct pass *pass,
	       struct error *err)
{
	const size_t bytes = SLOT_FLOATS * sizeof(float);
	const cl_uchar zero = 0;
	cl_int status = clEnqueueFillBuffer(queue_next(&program->queue),
					    pass->scores, &zero, sizeof(zero),
					    (size_t)pass->slot * bytes, bytes,
					    0, NULL, NULL);

	return status ? status_fail(err, "clEnqueueFillBuffer", status) : 0;
}

void slot_add(const struct pass *pass, int slot, struct score *score)
{
	const float *values = pass->host_scores + SLOT_FLOATS * slot;

	score->loss += (double)values[0] + values[1];
	score->correct += (long)values[2];
	score->count += (long)values[3];
}

/* A mark is enqueued after every MARK_EVERY steps. The host waits for it when
 * its place is needed again, so that it is at most MARK_EVERY * (MARKS + 1)
 * steps ahead. It waits for an event, so that the queue never runs empty. */
#define MARK_EVERY 8

static void mark_release(cl_event *mark)
{
	if (*mark)
		clReleaseEvent(*mark);
	*mark = NULL;
}

void ahead_release(struct opencl_program *program)
{
	for (int i = 0; i < MARKS; i++)
		mark_release(&program->marks[i]);
}

static int mark_put(struct opencl_program *program, cl_event *mark,
		    struct error *err)
{
	cl_int status = *mark ? clWaitForEvents(1, mark) : CL_SUCCESS;

	if (status)
		return status_fail(err, "clWaitForEvents", status);
	mark_release(mark);
	/* Neither a kernel nor a transfer: it is not counted. */
	status = clEnqueueMarkerWithWaitList(program->queue.commands, 0, NULL,
					     mark);
	return status ? status_fail(err, "clEnqueueMarkerWithWaitList",
				    status) : 0;
}

int ahead_begin(struct opencl_program *program, struct error *err)
{
	struct pass *train = &program->train;
	const int before = program->unfinished;

	/* Without options.ahead the last gradient is the one that counts. */
	train->slot = before < train->slots ? before : train->slots - 1;
	program->unfinished = train->slot + 1;
	if (!train->slot || train->slot % MARK_EVERY)
		return 0;
	return mark_put(program,
			&program->marks[train->slot / MARK_EVERY % MARKS],
			err);
}

int opencl_finish(struct program *base, struct score *scores, int count,
		  struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	const int unfinished = program->unfinished;
	cl_int status;

	assert(count <= (unfinished ? unfinished : 1));
	if (unfinished && score_read(program, &program->train, unfinished, err))
		return -1;
	for (int slot = 0; slot < unfinished; slot++) {
		base->score = (struct score){ 0 };
		slot_add(&program->train, slot, &base->score);
		if (slot >= unfinished - count)
			*scores++ = base->score;
	}
	if (!unfinished && count)
		*scores = base->score;
	program->unfinished = 0;
	ahead_release(program);
	status = clFinish(program->queue.commands);
	return status ? status_fail(err, "clFinish", status) :
			queue_report(&program->queue, err);
}
