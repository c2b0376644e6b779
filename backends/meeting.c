#include "backends/meeting.h"

#include <errno.h>
#include <string.h>

int meeting_open(struct meeting *meeting, int size, int shared,
		 struct error *err)
{
	meeting->size = size;
	atomic_init(&meeting->arrived, 0);
	atomic_init(&meeting->failed, 0);
	atomic_init(&meeting->rounds, 0);
	for (int r = 0; r < size; r++)
		atomic_init(&meeting->leaving[r], 0);
	for (int g = 0; g < 2; g++)
		if (sem_init(&meeting->gates[g], shared, 0))
			return error_set(err, ERROR_FAILED,
					 "the cores' semaphores: %s",
					 strerror(errno));
	return 0;
}

void meeting_close(struct meeting *meeting)
{
	for (int g = 0; g < 2; g++)
		sem_destroy(&meeting->gates[g]);
}

void meeting_fail(struct meeting *meeting)
{
	atomic_store(&meeting->failed, 1);
	/* Whoever waits, at either gate, and whoever is on the way there. */
	for (int g = 0; g < 2; g++)
		for (int r = 0; r < meeting->size; r++)
			sem_post(&meeting->gates[g]);
}

static int leave(struct member *self, struct error *err)
{
	atomic_store(&self->meeting->leaving[self->base.rank], 1);
	return error_set(err, ERROR_FAILED, "another core failed");
}

/*
 * The last to arrive opens the gate for the others. The next barrier has the
 * other gate: nobody comes back to this one before all have passed it.
 */
int meeting_barrier(struct member *self, struct error *err)
{
	struct meeting *meeting = self->meeting;
	sem_t *gate = &meeting->gates[self->round % 2];

	if (atomic_load(&meeting->failed))
		return leave(self, err);
	self->round++;
	if (atomic_fetch_add(&meeting->arrived, 1) + 1 == meeting->size) {
		atomic_store(&meeting->arrived, 0);
		atomic_store(&meeting->rounds, self->round);
		for (int r = 1; r < meeting->size; r++)
			sem_post(gate);
	} else {
		while (sem_wait(gate) && errno == EINTR)
			;
	}
	/* Who fails after all have met has still met: what it said counts. */
	return atomic_load(&meeting->rounds) < self->round ? leave(self, err) :
							     0;
}

int meeting_gather(struct group *group, const void *mine, size_t bytes,
		   void *all, struct error *err)
{
	struct member *self = (struct member *)group;
	struct meeting *meeting = self->meeting;
	const int half = self->half;

	self->half = !half;
	if (bytes)
		memcpy(meeting->messages[half][group->rank], mine, bytes);
	if (meeting_barrier(self, err))
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

/* Reduce-scatter: sum[from .. to) becomes the sum in rank order. */
static void add_in_order(float *const *vectors, int size, float *sum,
			 size_t from, size_t to)
{
	float block[SUM_BLOCK];

	for (size_t at = from; at < to; at += SUM_BLOCK) {
		size_t count = to - at < SUM_BLOCK ? to - at : SUM_BLOCK;

		memcpy(block, vectors[0] + at, count * sizeof(float));
		for (int r = 1; r < size; r++)
			for (size_t i = 0; i < count; i++)
				block[i] += vectors[r][at + i];
		memcpy(sum + at, block, count * sizeof(float));
	}
}

/*
 * Reduce-scatter, then all-gather: each rank adds one slice of all vectors and
 * copies the other slices from those who added them.
 */
int meeting_sum(struct member *self, float *const *vectors, float *values,
		size_t count, struct error *err)
{
	const int rank = self->base.rank, size = self->base.size;
	float *mine = vectors[rank];
	size_t from, to;

	if (!count)
		return meeting_barrier(self, err);
	if (mine != values)
		memcpy(mine, values, count * sizeof(float));
	if (meeting_barrier(self, err))
		return -1;
	slice(rank, size, count, &from, &to);
	add_in_order(vectors, size, mine, from, to);
	if (meeting_barrier(self, err))
		return -1;
	for (int r = 0; r < size; r++) {
		slice(r, size, count, &from, &to);
		if (vectors[r] != values)
			memcpy(values + from, vectors[r] + from,
			       (to - from) * sizeof(float));
	}
	/* Nobody may change its vector while another still copies from it. */
	return meeting_barrier(self, err);
}

int meeting_blame(const struct meeting *meeting, const struct ending *endings,
		  struct error *err)
{
	int found = -1;

	for (int r = meeting->size - 1; r >= 0; r--)
		if (endings[r].result &&
		    (found < 0 || !atomic_load(&meeting->leaving[r])))
			found = r;
	if (found < 0)
		return 0;
	/* All stop together, and none is to blame. */
	*err = endings[found].err;
	if (err->kind == ERROR_STOPPED)
		return -1;
	return error_set(err, endings[found].err.kind, "core %d of %d: %s",
			 found, meeting->size, endings[found].err.message);
}
