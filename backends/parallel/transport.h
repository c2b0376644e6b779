/*
 * How cores meet.
 *
 * A transport launches one body per core; the bodies then meet in collective
 * calls, which every rank makes in the same order. Those that wait block in the
 * kernel (cores share CPUs), and fail in every rank once one rank has failed.
 *
 * Vectors are exchanged in slices, one a rank. A sum of all ranks' vectors that
 * all of them use is made in three steps; where cores have no memory in common,
 * each of them waits, else only group_offer():
 *
 *   group_offer()           each rank's vector is complete, and all know it
 *   group_reduce_scatter()  each rank has its slice of the sum
 *   ...                     and makes of it its slice of another vector
 *   group_offer()           all slices of that one are complete
 *   group_all_gather()      each rank has all of it
 *
 * A vector may be divided into buckets first, each of which has a slice of
 * every rank, so that its last floats can be on their way to others while a
 * rank still computes the first (group_begin_bucket).
 */
#ifndef BACKENDS_PARALLEL_TRANSPORT_H
#define BACKENDS_PARALLEL_TRANSPORT_H

#include <stddef.h>

#include "backends/contract/error.h"

#define GROUP_MAX_SIZE 64
#define GROUP_MAX_MESSAGE 256 /* bytes of one rank in group_gather */

struct allocator;
struct transport;

#define SLICE_LINE 16 /* floats of a cache line; a slice has whole ones */
#define GROUP_MOST_BUCKETS 256

/* A part of a vector: from .. to. */
struct slice {
	size_t from, to;
};

/* How a vector of count floats is divided: the first bucket is its last floats,
 * and so on to its first ones. Sizes but the last are whole lines. */
struct buckets {
	size_t count;
	size_t first, each; /* floats, at most; 0: it is one bucket */
};

/* One rank's view of all; the first member of each transport's own. */
struct group {
	const struct transport *transport;
	int rank, size;
	/* Of what all ranks see, until the last of them has ended. They ask
	 * for the same in the same order. NULL: there is one rank, or they are
	 * on several hosts. */
	struct allocator *memory;
	/* Set by all bodies alike: sums may be made in any order, as the
	 * transport's library has it, and of the whole vector. */
	int native_sums;
	/* Likewise: gradients are summed as a whole, never made of sufficient
	 * factors. */
	int whole_gradients;
	/* Likewise: floats of a gradient's buckets, whole lines, where ranks
	 * have no memory in common; 0: there is one. */
	size_t bucket_floats;
	struct buckets offered; /* the vector that was offered last */
	/* Of this rank's computing, with buckets under way meanwhile. */
	double overlapped_s;
	/* Of the vectors this rank gave to be summed, and of the factors that
	 * it gave to other hosts instead. */
	long summed_bytes;
};

typedef int group_body(struct group *group, void *context, struct error *err);

/* What a group is launched for. */
struct group_job {
	group_body *body;
	/*
	 * All cores work on the same context_size bytes, and what they leave
	 * there is there after the launch, however it ended. What it points to
	 * is a copy of its own for each core that is a process, and so are
	 * these bytes where cores join.
	 */
	void *context;
	size_t context_size;
	/*
	 * 0, or the signal that the launching process has caught; it is passed
	 * on to cores that are processes. NULL: none is.
	 */
	int (*caught)(void);
};

struct transport {
	const char *name;
	const char *summary;
	const char *unavailable; /* why this build cannot, or NULL */
	int max_size;
	int one_process; /* the cores are threads of one process */

	/*
	 * NULL, but where another program starts the cores, each as a process.
	 * They join before the launch, which then runs the body of this one,
	 * and has the same result in all. They leave at the end, with what
	 * failed if that was before the launch, so that nobody waits there;
	 * the first one when it has said what failed: once a core has exited
	 * with a failure, the other program may end the others.
	 */
	int (*join)(int size, struct error *err);
	void (*leave)(const struct error *failure);

	int (*launch)(const struct transport *transport, int size,
		      const struct group_job *job, struct error *err);
	int (*gather)(struct group *group, const void *mine, size_t bytes,
		      void *all, struct error *err);
	/* What is offered is group->offered. */
	int (*offer)(struct group *group, float *values, struct error *err);
	/* Optional: nothing is sent before all is offered. */
	int (*begin_bucket)(struct group *group, float *values,
			    const struct buckets *buckets, int bucket,
			    struct error *err);
	int (*reduce_scatter)(struct group *group, struct error *err);
	int (*all_gather)(struct group *group, struct error *err);
};

const struct transport *transport_find(const char *name);
const struct transport *transport_next(const struct transport *previous);

/*
 * Runs the body once in each of size cores and returns when all have ended: 0,
 * or -1 with the message of the lowest rank that failed by itself. Cores in
 * processes of their own need a caller that has opened no device and has no
 * other children.
 */
int group_launch(const struct transport *transport, int size,
		 const struct group_job *job, struct error *err);

/*
 * Each rank gives bytes (at most GROUP_MAX_MESSAGE, the same everywhere) and
 * gets those of all ranks, in rank order, size * bytes long.
 */
int group_gather(struct group *group, const void *mine, size_t bytes,
		 void *all, struct error *err);

/* A barrier: returns once all ranks have called it. */
int group_wait(struct group *group, struct error *err);

/* What is rank's of a vector of count floats; it may be empty. */
struct slice group_slice(int rank, int size, size_t count);

/* Buckets of so many floats, or more where they would be too many; the first is
 * of at most 1 MiB, so that it is soon under way. 0: one. */
struct buckets buckets_of(size_t count, size_t each);
/* At least 1, at most GROUP_MOST_BUCKETS. */
int buckets_number(const struct buckets *buckets);
struct slice bucket_range(const struct buckets *buckets, int bucket);
/* What is rank's of a bucket; it may be empty. */
struct slice bucket_slice(const struct buckets *buckets, int bucket, int rank,
			  int size);

/*
 * Names the vector that the next two calls are about, in group->memory if there
 * is one, of the same length in every rank; returns when all ranks have come so
 * far. From now until they meet again in whatever call, others may read it,
 * even if this rank fails.
 */
int group_offer(struct group *group, float *values, size_t count,
		struct error *err);

/* The same of a vector in buckets. */
int group_offer_buckets(struct group *group, float *values,
			const struct buckets *buckets, struct error *err);

/*
 * A bucket of a vector that will be offered, and summed, next: its floats are
 * complete, and others may be sent them from now on, while this rank goes on to
 * compute the rest. Buckets are begun in order; those that are not are
 * sent with the sum. Does not wait.
 */
int group_begin_bucket(struct group *group, float *values,
		       const struct buckets *buckets, int bucket,
		       struct error *err);

/*
 * The own slice of the vector offered, or of each bucket, becomes the sum over
 * the ranks, added in rank order, so that a run can be repeated bit by bit. The
 * rest of it stays, but with native_sums. Waits only where ranks have no memory
 * in common.
 */
int group_reduce_scatter(struct group *group, struct error *err);

/* All slices but the own one become what their ranks have there. Waits as the
 * sum does. */
int group_all_gather(struct group *group, struct error *err);

#endif
