/* A job: everything that a run of a target will do, resolved from the options
 * by bench/plan/plan.h. */
#ifndef BENCH_PLAN_JOB_H
#define BENCH_PLAN_JOB_H

#include <limits.h>

#include "backends/contract/backend.h"
#include "bench/data/dataset.h"
#include "bench/data/weights/weights.h"
#include "bench/plan/slowdown.h"

/* A planned run. It does not change while the run is executed. */
struct training {
	struct model model;
	const struct backend *backend;
	const struct dataset *dataset;
	const char *device; /* as in struct device_request */
	const char *device_class; /* as in struct device_request */
	int one_process;    /* 1 if the cores are threads of this process */
	int native_sums;    /* as in struct group */
	int whole_gradients; /* as in struct group */
	size_t bucket_floats; /* as in struct group */
	struct recipe recipe;
	int cores;
	int cores_here; /* cores of this target on this host */
	int copies;	/* copies of the data set in this host's memory */
	int infers; /* 1: forward passes only, counted by iterations */
	int folds;  /* 1: batch norms are folded into the layers before them */
	int iterations;	  /* iterations per epoch */
	int epoch_iterations; /* iterations per epoch without --steps; 0 = no
				 end */
	int samples_per_core; /* samples of the first core in an iteration;
				 other cores may have one less */
	int global_samples;   /* samples of all cores in an iteration */
	int test_batch; /* samples of all cores in a test step; 0 = no tests */
	int test_steps;	  /* test steps at most; 0 = no limit */
	int drop_last;	  /* 1: training and test skip a last batch that is not
			     full */
	int pad;	  /* see loader_samples() */
	int warmup;	  /* steps */
	unsigned long long seed;
	double row_bytes; /* bytes of the rows that bench run keeps for all
			     runs; 0 = none */
	const struct weights *weights; /* initial weights; NULL = seeded */
	int reads_weights; /* 1: the initial weights come from a file */
	char weights_prefix[WEIGHTS_PREFIX]; /* as weights_check() sets it */
	int dropout, reshuffle;
	enum algorithm algorithm;
	enum precision precision;
	int resident; /* 1: keep the data set on the device if it supports
			 that */
	int ahead;    /* 1: iterations of an epoch are queued without waiting;
			 needs resident */
	double target_accuracy_pct; /* the run ends at this accuracy;
				       CELL_NO_REAL = no limit */
	const char *dump_masks, *save_parameters; /* files, or NULL */
	char save_weights[PATH_MAX]; /* file; empty = none */
	int save_best; /* 1: save_weights gets the epoch with the lowest test
			  loss */

	struct slowdown slowdown;
	const char *trace;   /* file, or NULL */
	const char *profile; /* file, or NULL */
};

#endif
