/* Which runs there are: part of bench/record/results.c. */
#ifndef BENCH_RECORD_RESULTS_RUNS_H
#define BENCH_RECORD_RESULTS_RUNS_H

#include "bench/record/result.h"
#include "bench/record/rows_by_run.h"

/* Fills runs: those of runs.csv, then those that have nothing but rows, which
 * are made up from them. */
int results_gather_runs(struct results *results,
			const struct rows_by_run *groups,
			const struct campaign *campaign, struct error *err);

#endif
