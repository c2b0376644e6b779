/*
 * The cores of a target by its own transport, which may be a plug-in's. What
 * another program starts, such as mpirun, is a command of its own: `bench
 * verify TARGET --team FILE`, once for each core.
 */
#ifndef BENCH_VERIFY_VERIFY_RANKS_H
#define BENCH_VERIFY_VERIFY_RANKS_H

#include <stdio.h>

#include "bench/verify/verify_task.h"

/* What the cores do together. */
struct verify_job {
	/* Launches the cores once, and fills made. */
	int (*run)(const struct verify_job *job,
		   const struct transport *transport, int cores,
		   struct error *err);
	void *made;  /* by the first core; without pointers */
	size_t size; /* bytes of it */
};

/* Runs the job on the target's cores. */
int verify_own_cores(const struct verify_job *job, struct target *target,
		     const struct options *options, struct error *err);

/* The command with --team: this process is one of the target's cores, and the
 * first core writes what they made to the file. An error is printed by the
 * first core, before the others may end it, and err then has no message. */
int verify_be_core(const struct verify_job *job, struct target *target,
		   const struct options *options, FILE *log,
		   struct error *err);

#endif
