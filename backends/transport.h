/*
 * How cores meet.
 *
 * A transport launches one body per core; the bodies then meet in three
 * collective calls, which every rank makes in the same order. All of them
 * block in the kernel while they wait (cores share CPUs), and all of them
 * fail in every rank once one rank has failed.
 */
#ifndef BACKENDS_TRANSPORT_H
#define BACKENDS_TRANSPORT_H

#include <stddef.h>

#include "backends/error.h"

#define GROUP_MAX_SIZE 64
#define GROUP_MAX_MESSAGE 256 /* bytes of one rank in group_gather */

struct transport;

/* One rank's view of all; the first member of each transport's own. */
struct group {
	const struct transport *transport;
	int rank, size;
	long summed_bytes; /* this rank's, in group_sum() so far */
};

typedef int group_body(struct group *group, void *context, struct error *err);

/* What a group is launched for. */
struct group_job {
	group_body *body;
	/*
	 * All cores work on the same context_size bytes, and what they leave
	 * there is there after the launch, however it ended. What it points to
	 * is a copy of its own for each core that is a process.
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

	int (*launch)(const struct transport *transport, int size,
		      const struct group_job *job, struct error *err);
	int (*gather)(struct group *group, const void *mine, size_t bytes,
		      void *all, struct error *err);
	int (*sum)(struct group *group, float *values, size_t count,
		   struct error *err);
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
 * gets those of all ranks, in rank order, size * bytes long. With 0 bytes it
 * is a barrier.
 */
int group_gather(struct group *group, const void *mine, size_t bytes,
		 void *all, struct error *err);

/*
 * All-reduce: values becomes, in every rank, the sum over the ranks, added in
 * rank order, so that a run can be repeated bit by bit.
 */
int group_sum(struct group *group, float *values, size_t count,
	      struct error *err);

#endif
