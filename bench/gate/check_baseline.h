/* `bench check --baseline`: the base was measured before. */
#ifndef BENCH_GATE_CHECK_BASELINE_H
#define BENCH_GATE_CHECK_BASELINE_H

#include "bench/gate/check.h"
#include "bench/gate/judge.h"

/* ERROR_USAGE if options do not go with --baseline, whatever is in it. */
int check_baseline_question(const struct options *options, struct error *err);

/*
 * Reads the baseline and takes the targets that the options name, or all that
 * it has. ERROR_USAGE if options ask for other work, ERROR_NO_VERDICT if it is
 * of another machine or lacks a target.
 */
int check_baseline_plan(struct check *check, struct error *err);

/* Did the pilot do the baseline's work on its device? ERROR_NO_VERDICT lists
 * what differs. */
int check_baseline_compare(struct check *check, struct error *err);

/* A regression is advice: screen and confirmation have the saved processes in
 * common, so that what was wrong with those is confirmed as well. */
void check_baseline_advise(struct judged *rows, int count);

#endif
