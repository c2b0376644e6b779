/*
 * Transports: how cores run together and exchange vectors.
 *
 * A transport launches one body per core. The bodies then make collective
 * calls, every rank in the same order. Calls that wait block in the kernel,
 * since cores share CPUs, and fail in every rank once one rank has failed.
 *
 * Vectors are exchanged in slices, one per rank. A sum of all ranks' vectors
 * that all of them use takes three steps. With shared memory only group_offer()
 * waits, else each step does:
 *
 *   group_offer()           all ranks have completed their vectors
 *   group_reduce_scatter()  each rank has its slice of the sum
 *   ...                     and computes its slice of another vector
 *   group_offer()           all slices of the other vector are complete
 *   group_all_gather()      each rank has all of it
 *
 * A vector may be divided into buckets, each with a slice of every rank. Its
 * last floats can then be sent while a rank still computes the first
 * (group_begin_bucket).
 */
#ifndef BACKENDS_PARALLEL_TRANSPORT_H
#define BACKENDS_PARALLEL_TRANSPORT_H

#include <stddef.h>

#include "backends/contract/error.h"

#define GROUP_MAX_SIZE 64
#define GROUP_MAX_MESSAGE 256 /* bytes per rank in group_gather */

struct allocator;
struct transport;

#define SLICE_LINE 16 /* floats of a cache line; slices are whole lines */
#define GROUP_MOST_BUCKETS 256

/* Floats from .. to - 1 of a vector. */
struct slice {
	size_t from, to;
};

/* Division of a vector of count floats: the first bucket has its last floats,
 * and so on to the front. Sizes are whole lines, except the last bucket's. */
struct buckets {
	size_t count;
	size_t first, each; /* floats, at most; 0 = one bucket */
};

/* One rank's view of all ranks; the first member of each transport's own. */
struct group {
	const struct transport *transport;
	int rank, size;
	/*
	 * Allocates memory that all ranks see until the last of them has ended;
	 * they request the same sizes in the same order. NULL = one rank, or
	 * several hosts.
	 */
	struct allocator *memory;
	/* Set by all bodies alike: 1 = sums may have any order, as the
	 * transport's library makes them, and are of the whole vector. */
	int native_sums;
	/* Set by all bodies alike: 1 = gradients are summed as a whole, without
	 * sufficient factors. */
	int whole_gradients;
	/* Set by all bodies alike: floats of a gradient's buckets, whole lines,
	 * for ranks without shared memory; 0 = one bucket. */
	size_t bucket_floats;
	struct buckets offered; /* the vector offered last */
	/* Seconds that this rank computed while buckets were being sent. */
	double overlapped_s;
	/* Bytes of the vectors that this rank gave to sums, and of the factors
	 * that it sent to other hosts. */
	long summed_bytes;
};

typedef int group_body(struct group *group, void *context, struct error *err);

/* The work of a launch. */
struct group_job {
	group_body *body;
	/*
	 * All cores work on the same context_size bytes, which keep their
	 * contents after the launch, however it ended. Data that its pointers
	 * refer to are copied for each core that is a process. If cores join,
	 * the context is copied as well.
	 */
	void *context;
	size_t context_size;
	/* Returns 0, or the signal that the launching process has caught, to
	 * pass on to cores that are processes. NULL = no signals. */
	int (*caught)(void);
};

struct transport {
	const char *name;
	const char *summary;
	/* reason why this build cannot run it, or NULL */
	const char *unavailable;
	int max_size;
	int one_process; /* 1 = cores are threads of one process */

	/*
	 * For transports whose cores are processes that another program starts;
	 * else NULL. Cores join before the launch, which then runs the body of
	 * this core and returns the same result in all. They leave at the end,
	 * with the failure if it happened before the launch, so that no core
	 * waits there. The first core leaves after it has printed the failure:
	 * once a core exits with a failure, the other program may kill the
	 * others.
	 */
	int (*join)(int size, struct error *err);
	void (*leave)(const struct error *failure);

	int (*launch)(const struct transport *transport, int size,
		      const struct group_job *job, struct error *err);
	int (*gather)(struct group *group, const void *mine, size_t bytes,
		      void *all, struct error *err);
	/* Slot of group_offer(); group->offered describes the vector. */
	int (*offer)(struct group *group, float *values, struct error *err);
	/* Slot of group_begin_bucket(); NULL = nothing is sent before all is
	 * offered. */
	int (*begin_bucket)(struct group *group, float *values,
			    const struct buckets *buckets, int bucket,
			    struct error *err);
	int (*reduce_scatter)(struct group *group, struct error *err);
	int (*all_gather)(struct group *group, struct error *err);
};

const struct transport *transport_find(const char *name);
const struct transport *transport_next(const struct transport *previous);

/*
 * Runs the body once in each of size cores and returns when all have ended.
 * Returns 0, or -1 with the message of the lowest rank that failed by itself.
 * If cores are processes, the caller must not have opened a device and must
 * have no other children.
 */
int group_launch(const struct transport *transport, int size,
		 const struct group_job *job, struct error *err);

/* Gathers bytes (at most GROUP_MAX_MESSAGE, equal everywhere) of each rank into
 * all, in rank order: size * bytes. Returns 0, or -1 with err. */
int group_gather(struct group *group, const void *mine, size_t bytes,
		 void *all, struct error *err);

/* Waits until all ranks have called it. Returns 0, or -1 with err. */
int group_wait(struct group *group, struct error *err);

/* Returns rank's slice of a vector of count floats; it may be empty. */
struct slice group_slice(int rank, int size, size_t count);

/* Returns buckets of each floats, or larger ones if they would be too many; 0 =
 * one bucket. The first has at most 1 MiB, so that it is sent soon. */
struct buckets buckets_of(size_t count, size_t each);
/* Returns the number of buckets: 1 .. GROUP_MOST_BUCKETS. */
int buckets_number(const struct buckets *buckets);
struct slice bucket_range(const struct buckets *buckets, int bucket);
/* Returns rank's slice of a bucket; it may be empty. */
struct slice bucket_slice(const struct buckets *buckets, int bucket, int rank,
			  int size);

/*
 * Names the vector of the next two calls; returns when all ranks have called
 * it. The vector is in group->memory if that exists, and has one length in all
 * ranks. From now until their next meeting others may read it, even if this
 * rank fails. Returns 0, or -1 with err.
 */
int group_offer(struct group *group, float *values, size_t count,
		struct error *err);

/* group_offer() for a vector in buckets. */
int group_offer_buckets(struct group *group, float *values,
			const struct buckets *buckets, struct error *err);

/*
 * Begins a bucket of the vector that will be offered and summed next. Its
 * floats are complete, and may be sent while this rank computes the rest.
 * Buckets must begin in order; the others are sent with the sum. Does not wait.
 * Returns 0, or -1 with err.
 */
int group_begin_bucket(struct group *group, float *values,
		       const struct buckets *buckets, int bucket,
		       struct error *err);

/*
 * Replaces this rank's slice of the offered vector, or of each bucket, by the
 * sum over ranks. It is added in rank order, so that runs are repeatable bit by
 * bit. The rest stays, except with native_sums. Waits only without shared
 * memory. Returns 0, or -1 with err.
 */
int group_reduce_scatter(struct group *group, struct error *err);

/* Replaces all slices but this rank's by the values of their ranks. Waits as
 * group_reduce_scatter() does. Returns 0, or -1 with err. */
int group_all_gather(struct group *group, struct error *err);

#endif
