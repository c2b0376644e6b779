/*
 * A saved baseline: a results folder with fresh processes of each target, all
 * doing the same work, that `bench check --baseline` compares later ones with.
 * They are the runs of stage CHECK_SCREEN without an arm.
 */
#ifndef BENCH_GATE_BASELINE_H
#define BENCH_GATE_BASELINE_H

#include <stdio.h>

#include "bench/record/campaign.h"
#include "bench/record/rank_test.h"
#include "bench/show/table.h"

#define BASELINE_MOST_TARGETS 64

struct baseline_target {
	const struct run *run;		/* the first of its processes */
	double values[TWO_SAMPLE_MOST]; /* of each: median iteration, s */
	size_t count;
	double median;	   /* of values */
	double first_loss; /* of run */
};

struct baseline {
	struct campaign campaign;
	struct baseline_target targets[BASELINE_MOST_TARGETS];
	int count;
};

/* Is the run a process of a baseline? */
int baseline_has(const struct run *run);

/*
 * Reads the folder. ERROR_MISSING if there is none, ERROR_INPUT with name, line
 * and what was expected if it holds no baseline or a broken one. Release it
 * also after a failure.
 */
int baseline_load(struct baseline *baseline, const char *dir,
		  struct error *err);
void baseline_release(struct baseline *baseline); /* all zero is fine */

/* NULL if the baseline lacks the target. */
const struct baseline_target *baseline_find(const struct baseline *baseline,
					    const char *target);

/* How long ago the first process was started, in days. */
double baseline_age(const struct baseline_target *target);

/* What it holds, as a table. Fails only for want of memory. */
int baseline_print(const struct baseline *baseline,
		   const struct table_options *options, FILE *out,
		   struct error *err);

#endif
