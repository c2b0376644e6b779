/* A device that runs ahead of the host: how far it may, and what it scored. */
#include "backends/opencl/opencl.h"

#include <assert.h>

/* A mark is put behind so many steps, and waited for when its place is needed
 * again: at most MARK_EVERY * (MARKS + 1) steps are on their way. An event is
 * waited for and not the queue, which goes on meanwhile. */
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
	status = clEnqueueMarkerWithWaitList(program->queue, 0, NULL, mark);
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
	status = clFinish(program->queue);
	return status ? status_fail(err, "clFinish", status) :
			profile_finish(program, err);
}
