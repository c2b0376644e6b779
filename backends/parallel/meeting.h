/*
 * Synchronization of cores on one machine: barriers and messages in memory that
 * all cores share. Private to the transports.
 *
 * A barrier blocks in the kernel. No lock is ever held, so a core that dies at
 * any moment leaves nothing for others to wait for. Whoever notices a failure
 * calls meeting_fail(), which releases all waiting cores.
 */
#ifndef BACKENDS_PARALLEL_MEETING_H
#define BACKENDS_PARALLEL_MEETING_H

#include <semaphore.h>
#include <stdatomic.h>

#include "backends/parallel/transport.h"

struct meeting {
	int size;
	atomic_int arrived, failed;
	atomic_ulong rounds; /* barriers that all ranks reached */
	sem_t gates[2];	     /* of the barriers, in turn */
	/* Ranks that have noticed the failure, and end. */
	atomic_int leaving[GROUP_MAX_SIZE];
	/* Messages are written to one half and read from the other, so that one
	 * barrier between writing and reading is enough. */
	char messages[2][GROUP_MAX_SIZE][GROUP_MAX_MESSAGE];
};

/* One rank's part; the first member of each transport's group. */
struct member {
	struct group base;
	struct meeting *meeting;
	unsigned long round; /* barriers so far */
	int half;
	/* all ranks' vectors, as addresses of this rank */
	float *offered[GROUP_MAX_SIZE];
};

/* Initialises a meeting; shared: its memory is shared between processes.
 * Returns 0, or -1 with err. */
int meeting_open(struct meeting *meeting, int size, int shared,
		 struct error *err);
void meeting_close(struct meeting *meeting);

/* Makes every later call fail in every rank. Any process may call it, and
 * twice. */
void meeting_fail(struct meeting *meeting);

int meeting_barrier(struct member *self, struct error *err);

/* Slot of struct transport. */
int meeting_gather(struct group *group, const void *mine, size_t bytes,
		   void *all, struct error *err);

/*
 * Exchanges the places of all ranks' vectors, with a barrier. The transport
 * defines the meaning of a place; all vectors must have one length. Without
 * places (NULL), the place must be equal in all ranks. Returns 0, or -1 with
 * err.
 */
int meeting_offer(struct member *self, size_t place, size_t count,
		  size_t *places, struct error *err);

/* Slots of struct transport, on the vectors in self->offered. */
int meeting_reduce_scatter(struct group *group, struct error *err);
int meeting_all_gather(struct group *group, struct error *err);

/* Result of one core. */
struct ending {
	int result;
	struct error err;
};

/* Returns 0, or -1 with the message of the lowest rank that failed by itself,
 * and not because another did. */
int meeting_blame(const struct meeting *meeting, const struct ending *endings,
		  struct error *err);

#endif
