/*
 * One thread per core. They meet at a barrier that blocks in the kernel; a
 * thread that fails opens it for good, so that nobody waits for the dead.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backends/transport.h"

struct meeting {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int size, arrived;
	unsigned long round;
	int failed;
	/* Messages are written in one half and read in the other, so that one
	 * barrier is enough between writing and reading. */
	char messages[2][GROUP_MAX_SIZE][GROUP_MAX_MESSAGE];
	float *values[GROUP_MAX_SIZE];
};

struct thread_group {
	struct group base;
	struct meeting *meeting;
	int half;
};

struct core {
	struct thread_group group;
	pthread_t thread;
	group_body *body;
	void *context;
	int result;
	struct error err;
};

/* Not a failure of its own: some other rank has the message. */
static int left_alone(struct error *err)
{
	return error_set(err, ERROR_FAILED, "another core failed");
}

static void meeting_fail(struct meeting *meeting)
{
	pthread_mutex_lock(&meeting->lock);
	meeting->failed = 1;
	pthread_cond_broadcast(&meeting->changed);
	pthread_mutex_unlock(&meeting->lock);
}

static int meeting_barrier(struct meeting *meeting, struct error *err)
{
	unsigned long round;
	int failed;

	pthread_mutex_lock(&meeting->lock);
	round = meeting->round;
	if (++meeting->arrived == meeting->size) {
		meeting->arrived = 0;
		meeting->round++;
		pthread_cond_broadcast(&meeting->changed);
	}
	while (meeting->round == round && !meeting->failed)
		pthread_cond_wait(&meeting->changed, &meeting->lock);
	failed = meeting->round == round;
	pthread_mutex_unlock(&meeting->lock);
	return failed ? left_alone(err) : 0;
}

static int threads_gather(struct group *group, const void *mine, size_t bytes,
			  void *all, struct error *err)
{
	struct thread_group *self = (struct thread_group *)group;
	struct meeting *meeting = self->meeting;
	const int half = self->half;

	self->half = !half;
	if (bytes)
		memcpy(meeting->messages[half][group->rank], mine, bytes);
	if (meeting_barrier(meeting, err))
		return -1;
	for (int r = 0; bytes && r < group->size; r++)
		memcpy((char *)all + (size_t)r * bytes,
		       meeting->messages[half][r], bytes);
	return 0;
}

/* What rank owns of count values: from .. to. */
static void slice(int rank, int size, size_t count, size_t *from, size_t *to)
{
	*from = count * (size_t)rank / (size_t)size;
	*to = count * ((size_t)rank + 1) / (size_t)size;
}

#define SUM_BLOCK 1024 /* floats that are added at a time, in L1 */

/* Reduce-scatter: mine[from .. to) becomes the sum in rank order. */
static void add_in_order(struct meeting *meeting, float *mine, size_t from,
			 size_t to)
{
	float block[SUM_BLOCK];

	for (size_t at = from; at < to; at += SUM_BLOCK) {
		size_t count = to - at < SUM_BLOCK ? to - at : SUM_BLOCK;

		memcpy(block, meeting->values[0] + at, count * sizeof(float));
		for (int r = 1; r < meeting->size; r++)
			for (size_t i = 0; i < count; i++)
				block[i] += meeting->values[r][at + i];
		memcpy(mine + at, block, count * sizeof(float));
	}
}

/*
 * Reduce-scatter, then all-gather: each rank adds one slice of all vectors and
 * copies the other slices from those who added them.
 */
static int threads_sum(struct group *group, float *values, size_t count,
		       struct error *err)
{
	struct meeting *meeting = ((struct thread_group *)group)->meeting;
	size_t from, to;

	meeting->values[group->rank] = values;
	if (meeting_barrier(meeting, err))
		return -1;
	slice(group->rank, group->size, count, &from, &to);
	add_in_order(meeting, values, from, to);
	if (meeting_barrier(meeting, err))
		return -1;
	for (int r = 0; r < group->size; r++) {
		slice(r, group->size, count, &from, &to);
		if (r != group->rank)
			memcpy(values + from, meeting->values[r] + from,
			       (to - from) * sizeof(float));
	}
	/* Nobody may change its vector while another still copies from it. */
	return meeting_barrier(meeting, err);
}

static void *core_main(void *argument)
{
	struct core *core = argument;
	struct meeting *meeting = core->group.meeting;

	core->result = core->body(&core->group.base, core->context, &core->err);
	if (core->result)
		meeting_fail(meeting);
	return NULL;
}

/* The message of the lowest rank that failed by itself. */
static int collect(const struct core *cores, int size, struct error *err)
{
	struct error alone;
	const struct core *found = NULL;

	left_alone(&alone);
	for (int r = size - 1; r >= 0; r--)
		if (cores[r].result &&
		    (!found || strcmp(cores[r].err.message, alone.message)))
			found = &cores[r];
	if (!found)
		return 0;
	return error_set(err, found->err.kind, "core %d of %d: %s",
			 found->group.base.rank, size, found->err.message);
}

static int run_all(struct core *cores, struct meeting *meeting, int size,
		   struct error *err)
{
	int started = 1, failed = 0;

	for (; started < size && !failed; started++)
		failed = pthread_create(&cores[started].thread, NULL, core_main,
					&cores[started]);
	if (failed) {
		started--;
		meeting_fail(meeting);
	} else {
		core_main(&cores[0]);
	}
	for (int r = 1; r < started; r++)
		pthread_join(cores[r].thread, NULL);
	if (failed)
		return error_set(err, ERROR_FAILED,
				 "%d threads wanted, %d could be created: %s",
				 size, started, strerror(failed));
	return collect(cores, size, err);
}

static int threads_launch(const struct transport *transport, int size,
			  group_body *body, void *context, struct error *err)
{
	struct meeting *meeting = calloc(1, sizeof(*meeting));
	struct core *cores = calloc((size_t)size, sizeof(*cores));
	int result = -1;

	if (!meeting || !cores) {
		error_memory(err, "the cores");
		goto out;
	}
	pthread_mutex_init(&meeting->lock, NULL);
	pthread_cond_init(&meeting->changed, NULL);
	meeting->size = size;
	for (int r = 0; r < size; r++) {
		cores[r].group.base = (struct group){ transport, r, size };
		cores[r].group.meeting = meeting;
		cores[r].body = body;
		cores[r].context = context;
	}
	result = run_all(cores, meeting, size, err);
	pthread_cond_destroy(&meeting->changed);
	pthread_mutex_destroy(&meeting->lock);
out:
	free(meeting);
	free(cores);
	return result;
}

const struct transport threads_transport = {
	.name = "threads",
	.summary = "one thread per core in this process",
	.max_size = GROUP_MAX_SIZE,
	.one_process = 1,
	.launch = threads_launch,
	.gather = threads_gather,
	.sum = threads_sum,
};
