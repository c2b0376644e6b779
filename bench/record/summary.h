/*
 * One number of one target: a row of summary.csv.
 *
 * Rows with a run_id are about one process; those without about the target in
 * its campaign. With several processes the latter are over the processes'
 * means (spread: runs), else over the intervals in the one (spread: iterations
 * or epochs).
 */
#ifndef BENCH_RECORD_SUMMARY_H
#define BENCH_RECORD_SUMMARY_H

#include "bench/record/column.h"

struct summary {
	char schema[12];
	char campaign_id[48];
	char label[64];
	char target[48];
	long cores;
	char metric[24];
	char unit[8];
	long n_runs;
	long n_obs;
	long n_warmup_excluded;
	double mean, std, median, q1, q3, min, max;
	double ci95_lo, ci95_hi; /* of the mean, across runs only */
	double first_iter_s;	 /* metric iter_s of one run only */
	char run_id[48];
	char spread[12]; /* what std to max are over; empty: one number */
	char algorithm[8], precision[8]; /* as in struct run */
	char device_class[8], resident[4], sync[8];
	long batch;
};

extern const struct row_kind summary_rows;

#endif
