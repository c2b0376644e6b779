/*
 * A job for several cores, by any transport, which may be a plug-in's. If
 * another program starts the cores, such as mpirun, each of them is a command
 * of its own: `bench verify TARGET --team FILE`.
 */
#ifndef BENCH_VERIFY_VERIFY_LAUNCH_H
#define BENCH_VERIFY_VERIFY_LAUNCH_H

#include <stdio.h>

#include "backends/parallel/transport.h"
#include "bench/options/options.h"
#include "bench/plan/target.h"

/* One of the cores. */
struct verify_core {
	struct group *group;
	int threads;	     /* cores in this process */
	const void *context; /* the job's */
	void *made;	     /* zero at first; of all cores, unless they join */
};

struct verify_job {
	int (*body)(const struct verify_core *core, struct error *err);
	const void *context;
	void *made;  /* results, filled by the first core; without pointers */
	size_t size; /* bytes of made */
};

/* Runs the body in each core. It fills made even if it fails. */
int verify_launch(const struct verify_job *job,
		  const struct transport *transport, int cores,
		  struct error *err);

/* The same on the target's cores, by its transport. */
int verify_launch_own(const struct verify_job *job, struct target *target,
		      const struct options *options, struct error *err);

/* The command with --team: this process is one of the target's cores, and the
 * first core writes what they made to the file. The first core prints an error
 * to log, before the others may end it, and err then has no message. */
int verify_be_core(const struct verify_job *job, struct target *target,
		   const struct options *options, FILE *log,
		   struct error *err);

#endif
