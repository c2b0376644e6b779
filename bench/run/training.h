/*
 * The work that is timed, as every core does it: open a device, compile, warm
 * up, then epochs of iterations and tests.
 */
#ifndef BENCH_RUN_TRAINING_H
#define BENCH_RUN_TRAINING_H

#include <limits.h>

#include "backends/contract/backend.h"
#include "backends/group/transport.h"
#include "bench/data/dataset.h"
#include "bench/record/run.h"
#include "bench/run/recorder.h"
#include "bench/run/slowdown.h"
#include "bench/run/weights.h"
#include "bench/system/kernel.h"
#include "bench/system/process.h"

/* What is to be done: nothing in it changes while it is. */
struct training {
	struct model model;
	const struct backend *backend;
	const struct dataset *dataset;
	const char *device; /* as in struct device_request */
	const char *device_class; /* likewise */
	int cpus;	    /* that the process is confined to */
	int one_process;    /* the cores share this process */
	int native_sums;    /* as in struct group */
	int whole_gradients; /* likewise */
	size_t bucket_floats; /* likewise */
	int joined; /* each core has a process and an outcome of its own */
	struct recipe recipe;
	int cores;
	int cores_here; /* of them, those on this host */
	int copies;	/* of the data set that they have in memory together */
	int infers; /* forward passes alone: these are its iterations */
	int folds;  /* of these: batch norms are part of the layers before */
	int iterations;	  /* an epoch */
	int epoch_iterations; /* the same without --steps; 0: no end */
	int global_batch; /* samples of all cores in an iteration */
	int test_batch;	  /* likewise in a test step; 0: no tests */
	int test_steps;	  /* most of a test; 0: all */
	int drop_last;	  /* of both passes: what does not fill a step */
	int pad;	  /* see loader_samples() */
	int warmup;	  /* steps */
	unsigned long long seed;
	const struct weights *weights; /* to begin with; NULL: seeded */
	int reads_weights; /* they are those of a file */
	char weights_prefix[WEIGHTS_PREFIX]; /* as weights_check() has it */
	int dropout, reshuffle;
	enum algorithm algorithm;
	enum precision precision;
	int resident; /* the device holds the data set, if it can */
	int ahead;    /* and runs ahead within an epoch, which needs that */
	double target_accuracy_pct; /* ends the run; missing: nothing does */
	const char *dump_masks, *save_parameters; /* files, or NULL */
	char save_weights[PATH_MAX]; /* file, or empty */
	int save_best; /* in it: of the epoch whose test loss is lowest */
	int patient; /* for interrupt_install(), in every process */
	FILE *log;   /* rank 0 says there what it runs on; NULL: nowhere */

	struct slowdown slowdown;
	const char *trace;	 /* file, or NULL */
	const char *profile;	 /* likewise */
	FILE *profile_log;	 /* for its table */
	double process_began_at; /* of clock_now() */
	double launcher_cpu_s;	 /* of the process that is none of the cores */
};

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
