/*
 * Jobs that run on several cores, by any transport, including a plug-in's. If
 * another program such as mpirun starts the cores, each core is a command of
 * its own: `bench verify TARGET --team FILE`.
 */
#ifndef BENCH_VERIFY_VERIFY_LAUNCH_H
#define BENCH_VERIFY_VERIFY_LAUNCH_H

#include <stdio.h>

#include "backends/parallel/transport.h"
#include "bench/options/options.h"
#include "bench/plan/target.h"

/* One core of a job. */
struct verify_core {
	struct group *group;
	int threads;	     /* cores in this process */
	const void *context; /* as in struct verify_job */
	void *made;	     /* results, 0 at first; shared by all cores unless
				a launcher started them */
};

struct verify_job {
	int (*body)(const struct verify_core *core, struct error *err);
	const void *context;
	void *made;  /* results, filled by the first core; must not contain
			pointers */
	size_t size; /* bytes of made */
};

/* Runs the body on each core. Copies made even after a failure. */
int verify_launch(const struct verify_job *job,
		  const struct transport *transport, int cores,
		  struct error *err);

/* Runs the job on the target's cores, by its transport or launcher. */
int verify_launch_own(const struct verify_job *job, struct target *target,
		      const struct options *options, struct error *err);

/* Runs the command with --team in one core that a launcher started. The first
 * core writes made to the file and prints errors to log before the others can
 * end it; err->message is empty then. */
int verify_be_core(const struct verify_job *job, struct target *target,
		   const struct options *options, FILE *log,
		   struct error *err);

#endif
