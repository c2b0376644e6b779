/* The process that trains, and the outcome of its run. */
#ifndef BENCH_TRAIN_OUTCOME_H
#define BENCH_TRAIN_OUTCOME_H

#include <stdio.h>

#include "backends/parallel/transport.h"
#include "bench/plan/job.h"
#include "bench/record/run.h"
#include "bench/system/process.h"
#include "bench/train/recorder.h"

/* Facts about a process before its cores start. */
struct measured_process {
	int cpus; /* number of CPUs that it is confined to */
	int joined; /* 1: it is one core and has an outcome of its own */
	int patient; /* argument of interrupt_install(), for every process */
	FILE *log;   /* rank 0 prints the device there; NULL = nowhere */
	FILE *profile_log; /* for the table of a profile */
	double began_at;   /* time of clock_now() */
	double launcher_cpu_s; /* CPU time of a process that is not a core */
};

/* The outcome, shared by all cores of a process. */
struct training_outcome {
	const struct training *training;
	struct measured_process process;

	/* Used by rank 0 only. The run has ids, target and cores from the
	 * start, and gets its results after the loop. */
	struct run run;
	struct recorder recorder;
	int stopped_by;	 /* signal that ended the run; 0 = none */
	int is_complete; /* 1: all iterations and tests are done and recorded */

	/* Peak memory; each core that is a process sets its own. */
	long memory_bytes[GROUP_MAX_SIZE];

	int is_launched;     /* 1: the cores have met */
	struct usage others; /* use of all ranks but 0, if a launcher started
				them */
};

#endif
