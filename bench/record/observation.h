/*
 * One measured interval: a row of observations.csv. Those of the model's clock
 * are none, and in modelled.csv; `bench measure` prints them among the others.
 *
 * A row whose core is missing is the target's: the slowest core's time, the
 * loss over the global batch. With more than one core each core has its own
 * rows besides.
 *
 * phase: setup (start-up, before the training loop), loader (waiting for
 * batches), step (one iteration), steps (an epoch's, of a device that was not
 * waited for in between; each has its loss in its own row, which has no time),
 * compute, wait, reduce and update (its parts),
 * test (one test set, waiting for its batches included), epoch (training, test
 * and schedule of one epoch), loop (from just before epoch 1 to the end). step
 * rows are one an iteration; of loader, compute, wait, reduce, update and test
 * there is one an epoch, the sum. The parts of a step are the largest of any
 * core and as the host sees them: a device that works in the background,
 * OpenCL's, has all its time in update.
 *
 * clock: wall is what this host took. model is what a host with a free CPU for
 * each emulated core would take, an estimate without what such a host's cores
 * take from each other (caches, memory bandwidth). Of an iteration it is the
 * sum over compute, reduce and update of the largest CPU time of any core; of
 * an epoch, those and the largest CPU time of any core for its test and its
 * loader, whose rows are that core's.
 */
#ifndef BENCH_RECORD_OBSERVATION_H
#define BENCH_RECORD_OBSERVATION_H

#include "bench/record/column.h"

struct observation {
	char schema[12];
	char run_id[48];
	char target[64];
	long cores;
	long core;	/* rank, from 0; missing: the target */
	char phase[12];
	long epoch;	/* from 1; 0 is warm-up, missing: not in an epoch */
	long iter;	/* from 1 in each epoch; missing: not one iteration */
	long is_warmup; /* 0 or 1 */
	double elapsed_s;
	double cpu_s; /* CPU time of the core's thread; of all for a target */
	long samples;
	double loss; /* mean over the samples */
	double accuracy_pct;
	char status[12];   /* ok, partial, error, skipped */
	char reason[200];  /* why not ok */
	char clock[8];	   /* wall or model; missing: wall */
	/* Of context, of a core's thread in an epoch; of all for a target. */
	long voluntary_switches, involuntary_switches;
};

/* Is the row of the model's clock? */
int observation_is_modelled(const struct observation *row);

extern const struct row_kind observation_rows;

#endif
