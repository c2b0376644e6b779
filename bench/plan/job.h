/* What a run of a target is to do, made from options by bench/plan/plan.h. */
#ifndef BENCH_PLAN_JOB_H
#define BENCH_PLAN_JOB_H

#include <limits.h>

#include "backends/contract/backend.h"
#include "bench/data/dataset.h"
#include "bench/data/weights.h"
#include "bench/plan/slowdown.h"

/* What is to be done: nothing in it changes while it is. */
struct training {
	struct model model;
	const struct backend *backend;
	const struct dataset *dataset;
	const char *device; /* as in struct device_request */
	const char *device_class; /* likewise */
	int one_process;    /* the cores share this process */
	int native_sums;    /* as in struct group */
	int whole_gradients; /* likewise */
	size_t bucket_floats; /* likewise */
	struct recipe recipe;
	int cores;
	int cores_here; /* of them, those on this host */
	int copies;	/* of the data set that they have in memory together */
	int infers; /* forward passes alone: these are its iterations */
	int folds;  /* of these: batch norms are part of the layers before */
	int iterations;	  /* an epoch */
	int epoch_iterations; /* the same without --steps; 0: no end */
	int samples_per_core; /* of an iteration; the first core's, if others
				 have one less */
	int global_samples;   /* of all cores together */
	int test_batch;	  /* likewise in a test step; 0: no tests */
	int test_steps;	  /* most of a test; 0: all */
	int drop_last;	  /* of both passes: what does not fill a step */
	int pad;	  /* see loader_samples() */
	int warmup;	  /* steps */
	unsigned long long seed;
	double row_bytes; /* that bench run keeps of all its runs; 0: none */
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

	struct slowdown slowdown;
	const char *trace;   /* file, or NULL */
	const char *profile; /* likewise */
};

#endif
