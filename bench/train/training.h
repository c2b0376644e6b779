/*
 * The work that is timed, as every core does it: open a device, compile, warm
 * up, then epochs of iterations and tests.
 */
#ifndef BENCH_TRAIN_TRAINING_H
#define BENCH_TRAIN_TRAINING_H

#include "backends/parallel/transport.h"
#include "bench/plan/job.h"
#include "bench/record/run.h"
#include "bench/system/process.h"
#include "bench/train/recorder.h"

/* The outcome so far. */
struct training_outcome {
	const struct training *training;

	/* Used and filled by rank 0 alone. The run's row has its ids, target
	 * and cores before, and gets what is known when its loop is over. */
	struct run run;
	struct recorder recorder;
	int stopped_by;	 /* the signal that ended the run, or 0 */
	int is_complete; /* every iteration and test is done and recorded */

	/* Each core that is a process fills its own. */
	long memory_bytes[GROUP_MAX_SIZE];

	int is_launched;     /* the cores have met */
	struct usage others; /* where they join: of those but rank 0 */
};

/*
 * The body of a core, for group_launch(); context is the struct
 * training_outcome. ERROR_STOPPED: a signal came, and the rows so far are out.
 */
int training_run(struct group *group, void *context, struct error *err);

#endif
