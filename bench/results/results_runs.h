/* Which runs there are: part of bench/results/results.c. */
#ifndef BENCH_RESULTS_RESULTS_RUNS_H
#define BENCH_RESULTS_RESULTS_RUNS_H

#include "bench/results/result.h"
#include "bench/rows/rows_by_run.h"

/* Fills runs: those of runs.csv, then those that have nothing but rows, which
 * are made up from them. */
int results_gather_runs(struct results *results,
			const struct rows_by_run *groups,
			const struct campaign *campaign, struct error *err);

#endif
