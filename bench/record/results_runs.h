/* The runs that results are made from, with what only their rows know. */
#ifndef BENCH_RECORD_RESULTS_RUNS_H
#define BENCH_RECORD_RESULTS_RUNS_H

#include "bench/record/result.h"
#include "bench/record/rows_by_run.h"

/* Fills runs with those of a kind: of runs.csv, then those that have nothing
 * but rows, which are made up from them. */
int results_gather_runs(struct results *results,
			const struct rows_by_run *groups,
			const struct campaign *campaign, enum results_kind kind,
			struct error *err);

#endif
