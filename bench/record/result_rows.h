/*
 * Rows made from the results of a campaign: summary.csv, which has one number
 * of one target in each, and --export-csv, which has all of a target's.
 *
 * Rows of a summary with a run_id are about one process; those without about
 * the target in its campaign. With several processes the latter are over the
 * processes' means (spread: runs), else over the intervals in the one (spread:
 * iterations or epochs).
 */
#ifndef BENCH_RECORD_RESULT_ROWS_H
#define BENCH_RECORD_RESULT_ROWS_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/campaign.h"
#include "bench/record/column.h"
#include "bench/record/result.h"

/* How the target was run: both repeat it from runs.csv. */
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

#define EXPORT_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns") \
	TEXT(campaign_id, 48, "the invocation of bench run") \
	TEXT(label, 64, "--label of that invocation") \
	TEXT(target, 48, "what was timed") \
	INT(cores, "emulated cores") \
	INT(n_runs, "processes that the numbers are from; with several they " \
	    "are the means of theirs") \
	TEXT(status, 12, "ok, partial, error or skipped") \
	TEXT(reason, 200, "why not ok") \
	REAL(loop_s, "the training loop") \
	REAL(loop_std_s, "deviation across runs; empty for one") \
	REAL(iter_s, "mean of an iteration") \
	/* Of a run; of several runs the means of theirs. */ \
	REAL(iter_std_s, "standard deviation of a run's iterations") \
	REAL(iter_q1_s, "25th percentile of a run's iterations") \
	REAL(iter_q3_s, "75th percentile of them") \
	REAL(epoch_s, "mean of an epoch, its test included") \
	REAL(epoch_std_s, "standard deviation of a run's epochs") \
	INT(n_iterations, "iterations in the numbers, of all runs") \
	INT(n_epochs, "epochs in the numbers, of all runs") \
	REAL(updates, "parameter updates of a run") \
	INT(global_batch, "samples per iteration, of all cores") \
	REAL(setup_s, "start-up, without warm-up") \
	REAL(images_per_s, "training samples per second of iterations and of " \
	     "waiting for the loader") \
	REAL(speedup, "images_per_s over that of the one-core target") \
	REAL(speedup_lo, "95 % t interval across runs; empty for one") \
	REAL(speedup_hi, "its upper end") \
	REAL(efficiency, "speedup over cores") \
	REAL(final_accuracy_pct, "of the last test") \
	REAL(final_loss, "of the last test") \
	REAL(iter_p50_s, "median iteration of a run") \
	REAL(iter_p99_s, "99th percentile of a run's iterations") \
	REAL(maxrss_bytes, "peak memory of the process") \
	INT(cpus, "CPUs the process was confined to") \
	REAL(cpu_s, "CPU time of the process, user and system") \
	TEXT(device_name, 128, "as its driver calls it; of several all that " \
	     "differ") \
	TEXT(device_type, 16, "CPU, GPU, ...") \
	TEXT(model, 32, "network") \
	TEXT(dataset, 32, "name, by content") \
	INT(seed, "of the first run") \
	INT(warmup_steps, "before the timed ones, of all runs") \
	TEXT(cpu_model, 80, "of the machine") \
	REAL(model_loop_s, "the training loop on a host with a free CPU for " \
	     "each core, an estimate") \
	REAL(model_iter_s, "mean of an iteration there") \
	REAL(model_epoch_s, "mean of an epoch there") \
	REAL(target_accuracy_pct, "--target-accuracy; empty: none, and the " \
	     "next is about 99 %") \
	REAL(time_to_accuracy_s, "mean of the times to it; empty: a run did " \
	     "not reach it") \
	REAL(time_to_accuracy_median_s, "their median") \
	REAL(epochs_to_accuracy, "mean of those runs that reached it") \
	INT(n_reached, "runs that reached it; empty: no target") \
	SETTING_COLUMNS(TEXT, INT, REAL) \
	REAL(iter_runs_std_s, "standard deviation of the runs' means; empty " \
	     "for one") \
	REAL(epoch_runs_std_s, "likewise") \
	REAL(score_s, "of runs with a target accuracy: see summary.csv")

struct export_row {
	EXPORT_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind summary_rows, export_rows;

/* *rows is an array that the caller frees. */
int summary_build(const struct results *results, struct summary **rows,
		  size_t *count, struct error *err);

/* summary.csv of a campaign; the caller checks ferror(). */
int summary_write(const struct campaign *campaign, int include_warmup,
		  FILE *out, struct error *err);

void export_row_set(struct export_row *row, const struct line *line,
		    const struct result *cell);

#endif
