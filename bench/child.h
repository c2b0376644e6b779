/* Measuring children of `bench run`: started, listened to, reaped. */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <stddef.h>

#include "backends/error.h"
#include "bench/observation.h"
#include "bench/options.h"
#include "bench/run.h"

/* What came home from one child; released by the caller. */
struct child_result {
	struct observation *rows;
	size_t count, room;
	struct run run; /* its own, or made from what is known of its end */
	int exit_code;	/* of the process; 128 + signal when one ended it */
};

/*
 * Runs `bench measure target` and waits for it. The child's failure is no
 * error: it is in result->run. An error says that it could not be run at all.
 * After options->timeout seconds the child is ended.
 */
int child_measure(struct child_result *result, const struct options *options,
		  const char *target, const char *run_id,
		  const char *campaign_id, struct error *err);

/* Makes result's run from the error of child_measure; rows are kept. */
void child_blame(struct child_result *result, const char *target,
		 const char *run_id, const struct error *err);

void child_release(struct child_result *result); /* all zero is fine */

#endif
