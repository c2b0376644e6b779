/* The code that runs inside a core's process; transport_fork.c launches it. */
#ifndef BACKENDS_PARALLEL_FORK_CORE_H
#define BACKENDS_PARALLEL_FORK_CORE_H

#include <stddef.h>
#include <sys/types.h>

#include "backends/parallel/meeting.h"

/* Memory that all processes share; the context's bytes follow. */
struct fork_shared {
	struct meeting meeting;
	_Alignas(max_align_t) char context[];
};

/* Data that each core gets from the launching process. */
struct fork_work {
	struct fork_shared *shared;
	const struct group_job *job;
	pid_t launcher;
	/* file of memory that cores read of each other; grows when needed */
	int memory;
};

/* Runs a core from start to end and writes one struct ending to home. Does not
 * return. */
void fork_core_live(const struct fork_work *work, const struct group *is,
		    int home);

/* Slot of struct transport. */
int fork_core_offer(struct group *group, float *values, struct error *err);

#endif
