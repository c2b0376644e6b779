/* What a run has come to, as every core of its process sees it. */
#ifndef BENCH_TRAIN_OUTCOME_H
#define BENCH_TRAIN_OUTCOME_H

#include "backends/parallel/transport.h"
#include "bench/plan/job.h"
#include "bench/record/run.h"
#include "bench/system/process.h"
#include "bench/train/recorder.h"

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

#endif
