/* How the process of a child is started: this program, another, a command, or
 * the launcher of its cores. */
#ifndef BENCH_LAUNCH_CHILD_START_H
#define BENCH_LAUNCH_CHILD_START_H

#include <sys/types.h>

#include "bench/options/options.h"
#include "bench/plan/target.h"

struct child_request {
	const struct options *options;
	const char *target, *run_id, *campaign_id;
	/* What `bench check` compares; without them it is this program. */
	const char *program;		  /* another bench */
	const char *const *words;	  /* a command instead, up to a NULL */
	const char *const *environment;	  /* NAME=VALUE, up to a NULL */
};

/* Is it a launcher that is started? Fills target then. */
int child_is_launched(const struct child_request *request,
		      struct target *target);

/* Its standard output is out_pipe, and its standard error errors, -1: ours.
 * What it says of itself goes to run_file. -1: it could not be started. */
pid_t child_start(const struct child_request *request, const char *run_file,
		  int out_pipe, int errors, struct error *err);

#endif
