/*
 * Where the cores of one machine meet: memory that all of them see, used by
 * every transport whose cores do. Private to the transports.
 *
 * A barrier blocks in the kernel. No lock is ever held, so that a core which
 * dies at any moment leaves nothing behind that another could wait for;
 * whoever notices calls meeting_fail(), which lets everybody go.
 */
#ifndef BACKENDS_PARALLEL_MEETING_H
#define BACKENDS_PARALLEL_MEETING_H

#include <semaphore.h>
#include <stdatomic.h>

#include "backends/parallel/transport.h"

struct meeting {
	int size;
	atomic_int arrived, failed;
	atomic_ulong rounds; /* barriers that all ranks came to */
	sem_t gates[2];	     /* of the barriers, in turns */
	/* Ranks that know of the failure, and end. */
	atomic_int leaving[GROUP_MAX_SIZE];
	/* Messages are written in one half and read in the other, so that one
	 * barrier is enough between writing and reading. */
	char messages[2][GROUP_MAX_SIZE][GROUP_MAX_MESSAGE];
};

/* One rank's own part; the first member of each transport's group. */
struct member {
	struct group base;
	struct meeting *meeting;
	unsigned long round; /* barriers so far */
	int half;
	float *offered[GROUP_MAX_SIZE]; /* where this rank sees those of all */
};

/* shared: the memory is shared between processes, not threads only. */
int meeting_open(struct meeting *meeting, int size, int shared,
		 struct error *err);
void meeting_close(struct meeting *meeting);

/* From now on every call fails in every rank; safe in any process, twice. */
void meeting_fail(struct meeting *meeting);

int meeting_barrier(struct member *self, struct error *err);

/* The slot of struct transport. */
int meeting_gather(struct group *group, const void *mine, size_t bytes,
		   void *all, struct error *err);

/*
 * A barrier that tells all ranks where each has its vector, in whatever sense
 * the transport gives to a place; all vectors are of one length. With places
 * NULL they are the same in all ranks.
 */
int meeting_offer(struct member *self, size_t place, size_t count,
		  size_t *places, struct error *err);

/* Slots of struct transport, of what self->offered points to. */
int meeting_reduce_scatter(struct group *group, struct error *err);
int meeting_all_gather(struct group *group, struct error *err);

/* How one core ended. */
struct ending {
	int result;
	struct error err;
};

/* 0, or -1 and the message of the lowest rank that failed by itself: one that
 * was not on its way out because of another. */
int meeting_blame(const struct meeting *meeting, const struct ending *endings,
		  struct error *err);

#endif
