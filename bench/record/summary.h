/*
 * A row of summary.csv: one number of one target. Rows with a run_id are about
 * one process, others about the target in its campaign. With several processes
 * the latter are over their means (spread: runs), otherwise over the intervals
 * of the one process (spread: iterations or epochs).
 */
#ifndef BENCH_RECORD_SUMMARY_H
#define BENCH_RECORD_SUMMARY_H

#include "bench/record/column.h"

/* Settings of the run, copied from runs.csv; exports have them too. */
#define SETTING_COLUMNS(TEXT, INT, REAL) \
	TEXT(algorithm, 8, "fast or dense, as in runs.csv") \
	TEXT(precision, 16, "fp32, bf16, fp64, fp16 or bf16-storage") \
	TEXT(device_class, 8, "cpu or gpu: class of the device's kernels; " \
	     "empty: no classes") \
	TEXT(resident, 4, "yes or no: whether the device kept the data set; " \
	     "empty: the device cannot keep one") \
	TEXT(sync, 8, "step or epoch: how often the host waited for the " \
	     "device") \
	INT(batch, "samples per core and iteration; empty: cores differ")

#define SUMMARY_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns", NEEDED) \
	TEXT(campaign_id, 48, "invocation of bench run", NEEDED) \
	TEXT(label, 64, "--label of that invocation") \
	TEXT(target, 48, "measured target", NEEDED) \
	INT(cores, "emulated cores") \
	TEXT(metric, 24, "one of the metrics below", NEEDED) \
	TEXT(unit, 8, "unit of mean to ci95_hi") \
	INT(n_runs, "processes in the row") \
	INT(n_obs, "intervals in the row, of all processes") \
	INT(n_warmup_excluded, "warm-up iterations left out; 0 with " \
	    "--include-warmup; empty: not a metric of iterations") \
	REAL(mean, "mean of all intervals, or of the runs' means", NEEDED) \
	/* Missing if the row is one number. */ \
	REAL(std, "population standard deviation (divided by n)") \
	REAL(median, "50th percentile") \
	REAL(q1, "25th percentile") \
	REAL(q3, "75th percentile") \
	REAL(min, "smallest value") \
	REAL(max, "largest value") \
	REAL(ci95_lo, "lower end of Student's t interval of the mean across " \
	     "runs; empty: one run") \
	REAL(ci95_hi, "upper end of that interval") \
	REAL(first_iter_s, "iter_s of one run: very first iteration, warm-up " \
	     "included") \
	TEXT(run_id, 48, "process; empty: the target") \
	TEXT(spread, 12, "values of std to max: iterations, epochs or runs; " \
	     "empty: one number") \
	SETTING_COLUMNS(TEXT, INT, REAL)

struct summary {
	SUMMARY_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind summary_rows;

#endif
