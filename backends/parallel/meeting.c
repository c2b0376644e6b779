#include "backends/parallel/meeting.h"

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
	/* Releases cores that wait at either gate or are about to. */
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
 * other gate: no rank comes back to this one before all have passed it.
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
	/* A core that fails after all have met has still met: its message
	 * counts. */
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

struct offer {
	size_t place, count;
};

int meeting_offer(struct member *self, size_t place, size_t count,
		  size_t *places, struct error *err)
{
	const struct offer mine = { place, count };
	struct offer all[GROUP_MAX_SIZE];

	if (meeting_gather(&self->base, &mine, sizeof(mine), all, err))
		return -1;
	for (int r = 0; r < self->base.size; r++) {
		if (all[r].count != all[0].count ||
		    (!places && all[r].place != all[0].place))
			return error_set(err, ERROR_FAILED, "core %d passed a "
					 "different buffer than core 0", r);
		if (places)
			places[r] = all[r].place;
	}
	return 0;
}

#define SUM_BLOCK 32 /* floats: they stay in registers until all are added */

static void add_in_order(float *const *vectors, int size, struct slice slice,
			 float *sum)
{
	size_t at = slice.from;

	for (; at + SUM_BLOCK <= slice.to; at += SUM_BLOCK) {
		float block[SUM_BLOCK];

		memcpy(block, vectors[0] + at, sizeof(block));
		for (int r = 1; r < size; r++)
			for (int i = 0; i < SUM_BLOCK; i++)
				block[i] += vectors[r][at + i];
		memcpy(sum + at, block, sizeof(block));
	}
	for (; at < slice.to; at++) {
		float one = vectors[0][at];

		for (int r = 1; r < size; r++)
			one += vectors[r][at];
		sum[at] = one;
	}
}

/* Nobody else reads or writes these slices of this rank's vector, and only this
 * rank reads these slices of the others. */
int meeting_reduce_scatter(struct group *group, struct error *err)
{
	float *const *vectors = ((struct member *)group)->offered;

	(void)err;
	for (int b = 0; b < buckets_number(&group->offered); b++)
		add_in_order(vectors, group->size,
			     bucket_slice(&group->offered, b, group->rank,
					  group->size),
			     vectors[group->rank]);
	return 0;
}

static void copy_slice(const float *from, struct slice slice, float *to)
{
	memcpy(to + slice.from, from + slice.from,
	       (slice.to - slice.from) * sizeof(*to));
}

/* Each rank begins with another one's slice. */
int meeting_all_gather(struct group *group, struct error *err)
{
	float *const *vectors = ((struct member *)group)->offered;
	const int size = group->size;

	(void)err;
	for (int b = 0; b < buckets_number(&group->offered); b++)
		for (int i = 1; i < size; i++) {
			const int from = (group->rank + i) % size;

			copy_slice(vectors[from],
				   bucket_slice(&group->offered, b, from, size),
				   vectors[group->rank]);
		}
	return 0;
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
	/* A single core needs no number. */
	if (err->kind == ERROR_STOPPED || meeting->size == 1)
		return -1;
	error_set(err, endings[found].err.kind, "core %d of %d: %s", found,
		  meeting->size, endings[found].err.message);
	err->memory = endings[found].err.memory;
	return -1;
}
