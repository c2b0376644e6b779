/* Measuring children of this process: started, listened to, reaped. */
#ifndef BENCH_LAUNCH_CHILD_H
#define BENCH_LAUNCH_CHILD_H

#include "backends/contract/error.h"
#include "bench/launch/child_start.h"
#include "bench/record/csv.h"
#include "bench/record/observation.h"
#include "bench/record/run.h"

/* Who gets the rows of a child; calls should be short. */
struct child_ear {
	/* Each row as it arrives; a failure ends the child. */
	csv_handler *row;
	/* Between rows: all that has arrived was given. At least ten times a
	 * second. */
	void (*pause)(void *context);
	void *context;
};

/* What is known of a child that has ended. */
struct child_result {
	struct run run; /* its own, or made from what is known of its end */
	int exit_code;	/* of the process; 128 + signal when one ended it;
			   ERROR_FAILED after the timeout */
	int is_mute;	/* it ended by itself and left no run file */
};

/*
 * Runs `bench measure target`, which shows no progress, and waits for it. The
 * child's failure is no error: it is in result->run. An error says that it
 * could not be run at all. After options->timeout seconds it is ended.
 *
 * With words, that command. If it prints observations they are passed on under
 * the request's run_id and target; any other output is skipped, and the run has
 * total_s, from the start of the process to its end, and what the system says
 * of its CPU time, memory and disturbance. Processes that it leaves running are
 * left alone, and their output is not read.
 *
 * A command is in a process group of its own, which as a whole gets our signals
 * and is ended after the timeout. PROCESS_GRACE_S after either, it is killed.
 * If we are killed ourselves it goes on.
 */
int child_measure(struct child_result *result,
		  const struct child_request *request,
		  const struct child_ear *ear, struct error *err);

/* Makes result's run from the error of child_measure. */
void child_blame(struct child_result *result, const char *target,
		 const char *run_id, const struct error *err);

#endif
