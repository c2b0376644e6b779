/* Measuring child processes: start them, read their rows, wait for their
 * end. */
#ifndef BENCH_LAUNCH_CHILD_H
#define BENCH_LAUNCH_CHILD_H

#include "backends/contract/error.h"
#include "bench/launch/child_start.h"
#include "bench/record/csv.h"
#include "bench/record/observation.h"
#include "bench/record/run.h"

/* The receiver of a child's rows. Its functions should return quickly. */
struct row_sink {
	/* Called for each row as it arrives. A failure ends the child. */
	csv_handler *row;
	/* Called at least ten times per second, when all rows that arrived have
	 * been passed on. */
	void (*pause)(void *context);
	void *context;
};

/* The outcome of a child that has ended. */
struct child_result {
	struct run run; /* the child's own row, or one made from its exit
			   status */
	int exit_code;	/* exit code; 128 + signal if a signal ended it;
			   ERROR_FAILED after the timeout */
	int is_mute;	/* 1: it ended by itself and left no run file */
};

/*
 * Runs `bench measure target` without progress and waits for it. A failure of
 * the child is no error: result->run reports it. The function fails if the
 * child could not be run at all, if its output is not rows, or if the sink
 * fails. The child is ended after options->timeout seconds.
 *
 * If request->words are given, runs that command instead. Observations that it
 * prints are passed on under the request's run_id and target; any other output
 * is skipped. The run has total_s, from the start of the process to its end,
 * and the system's figures for CPU time, memory and disturbance. Processes that
 * the command leaves running are left alone, and their output is not read.
 *
 * A command gets a process group of its own, which receives our signals and the
 * timeout's. PROCESS_GRACE_S after either, the group is killed. If this process
 * is killed, the command goes on.
 */
int child_measure(struct child_result *result,
		  const struct child_request *request,
		  const struct row_sink *sink, struct error *err);

/* Fills result->run from the error of child_measure(). */
void child_blame(struct child_result *result, const char *target,
		 const char *run_id, const struct error *err);

#endif
