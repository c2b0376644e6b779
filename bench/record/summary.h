/*
 * A row of summary.csv: one number of one target. Rows with a run_id are about
 * one process; those without about the target in its campaign. With several
 * processes the latter are over the processes' means (spread: runs), else over
 * the intervals in the one (spread: iterations or epochs).
 */
#ifndef BENCH_RECORD_SUMMARY_H
#define BENCH_RECORD_SUMMARY_H

#include "bench/record/column.h"

/* How the target was run, repeated from runs.csv; exports have it, too. */
#define SETTING_COLUMNS(TEXT, INT, REAL) \
	TEXT(algorithm, 8, "fast, dense: see runs.csv") \
	TEXT(precision, 16, "fp32, bf16, fp64, fp16, bf16-storage") \
	TEXT(device_class, 8, "cpu, gpu: of the device's kernels; empty: " \
	     "there are no classes") \
	TEXT(resident, 4, "yes, no: whether the device held the data set; " \
	     "empty: not a device that could hold it") \
	TEXT(sync, 8, "step, epoch: how often the device was waited for") \
	INT(batch, "samples per core and iteration; empty: they differ")

#define SUMMARY_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns", NEEDED) \
	TEXT(campaign_id, 48, "the invocation of bench run", NEEDED) \
	TEXT(label, 64, "--label of that invocation") \
	TEXT(target, 48, "what was timed", NEEDED) \
	INT(cores, "emulated cores") \
	TEXT(metric, 24, "see the list of metrics", NEEDED) \
	TEXT(unit, 8, "of mean to ci95_hi") \
	INT(n_runs, "processes in the row") \
	INT(n_obs, "intervals in the row, of all its processes") \
	INT(n_warmup_excluded, "warm-up steps left out of iterations; 0 with " \
	    "--include-warmup; empty: not about iterations") \
	REAL(mean, "of all intervals, or of the runs' means", NEEDED) \
	/* Missing where the row is one number. */ \
	REAL(std, "population standard deviation (divided by n)") \
	REAL(median, "50th percentile") \
	REAL(q1, "25th percentile") \
	REAL(q3, "75th percentile") \
	REAL(min, "smallest") \
	REAL(max, "largest") \
	REAL(ci95_lo, "Student's t interval of the mean across runs; empty " \
	     "for one run") \
	REAL(ci95_hi, "its upper end") \
	REAL(first_iter_s, "iter_s of one run: the very first step, warm-up " \
	     "or not") \
	TEXT(run_id, 48, "the one process; empty: the target") \
	TEXT(spread, 12, "std to max are over: iterations, epochs, runs; " \
	     "empty: one number") \
	SETTING_COLUMNS(TEXT, INT, REAL)

struct summary {
	SUMMARY_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind summary_rows;

#endif
