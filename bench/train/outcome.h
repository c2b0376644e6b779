/* The process that trains, and what its run has come to. */
#ifndef BENCH_TRAIN_OUTCOME_H
#define BENCH_TRAIN_OUTCOME_H

#include <stdio.h>

#include "backends/parallel/transport.h"
#include "bench/plan/job.h"
#include "bench/record/run.h"
#include "bench/system/process.h"
#include "bench/train/recorder.h"

/* What a process knows of itself before its cores start. */
struct measured_process {
	int cpus; /* that it is confined to */
	int joined; /* it is one core, and has an outcome of its own */
	int patient; /* for interrupt_install(), in every process */
	FILE *log;   /* rank 0 prints there what it runs on; NULL = nowhere */
	FILE *profile_log; /* for the table of a profile */
	double began_at;   /* of clock_now() */
	double launcher_cpu_s; /* CPU time of a process that is no core */
};

/* As every core of its process sees it. */
struct training_outcome {
	const struct training *training;
	struct measured_process process;

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
