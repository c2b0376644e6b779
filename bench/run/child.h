/* Measuring children of `bench run`: started, listened to, reaped. */
#ifndef BENCH_RUN_CHILD_H
#define BENCH_RUN_CHILD_H

#include "backends/contract/error.h"
#include "bench/options/options.h"
#include "bench/record/csv.h"
#include "bench/record/observation.h"
#include "bench/record/run.h"

struct child_request {
	const struct options *options;
	const char *target, *run_id, *campaign_id;
	/* What `bench check` compares; without them it is this program. */
	const char *program;		  /* another bench */
	const char *const *words;	  /* a command instead, up to a NULL */
	const char *const *environment;	  /* NAME=VALUE, up to a NULL */
};

/* Who hears what a child has to say, and is asked to be quick. */
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
	int exit_code;	/* of the process; 128 + signal when one ended it */
	int is_mute;	/* it ended by itself and says nothing of itself */
};

/*
 * Runs `bench measure target`, which shows no progress, and waits for it. The
 * child's failure is no error: it is in result->run. An error says that it
 * could not be run at all. After options->timeout seconds it is ended.
 *
 * With words, that command. If it prints observations they are heard, under the
 * request's run_id and target; any other output is passed over, and the run has
 * total_s, from the start of the process to its end, and what the system says
 * of its CPU time, memory and disturbance. What it leaves running then is let
 * be, and not heard.
 *
 * A command is in a process group of its own, all of which is told of our
 * signals and ended after the timeout. PROCESS_GRACE_S after either, it is
 * killed. If we are killed ourselves it goes on.
 */
int child_measure(struct child_result *result,
		  const struct child_request *request,
		  const struct child_ear *ear, struct error *err);

/* Makes result's run from the error of child_measure. */
void child_blame(struct child_result *result, const char *target,
		 const char *run_id, const struct error *err);

#endif
