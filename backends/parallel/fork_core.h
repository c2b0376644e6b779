/* A core that is a process, from inside; transport_fork.c has the outside. */
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

/* What each core gets from the process that launches it. */
struct fork_work {
	struct fork_shared *shared;
	const struct group_job *job;
	pid_t launcher;
	int memory; /* for what cores read of each other; grows when needed */
};

/* What a core does from its birth to its end; how it ended goes to home, as
 * one struct ending. Does not return. */
void fork_core_live(const struct fork_work *work, const struct group *is,
		    int home);

/* The slot of struct transport. */
int fork_core_offer(struct group *group, float *values, struct error *err);

#endif
