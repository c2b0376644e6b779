/* Starts the process of a child: this program, another one, a command, or the
 * launcher of its cores. */
#ifndef BENCH_LAUNCH_CHILD_START_H
#define BENCH_LAUNCH_CHILD_START_H

#include <sys/types.h>

#include "bench/options/options.h"
#include "bench/plan/target.h"

struct child_request {
	const struct options *options;
	const char *target, *run_id, *campaign_id;
	/* Set by `bench check`. If program and words are NULL, this program is
	 * started. */
	const char *program;		  /* another bench */
	const char *const *words;	  /* a command; ends with NULL */
	const char *const *environment;	  /* NAME=VALUE; ends with NULL */
};

/* Returns 1 and fills target if a launcher starts the child's cores. */
int child_is_launched(const struct child_request *request,
		      struct target *target);

/* Starts the child. Its standard output is out_pipe; its standard error is
 * errors, or ours if errors is -1. It writes its run row to run_file. Returns
 * -1 if it could not be started. */
pid_t child_start(const struct child_request *request, const char *run_file,
		  int out_pipe, int errors, struct error *err);

#endif
