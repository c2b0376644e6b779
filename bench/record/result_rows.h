/*
 * Rows made from the results of a campaign: summary.csv, which has one number
 * of one target in each, and --export-csv, which has all of a target's.
 */
#ifndef BENCH_RECORD_RESULT_ROWS_H
#define BENCH_RECORD_RESULT_ROWS_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/campaign.h"
#include "bench/record/column.h"
#include "bench/record/result.h"
#include "bench/record/summary.h"

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

extern const struct row_kind export_rows;

/* *rows is an array that the caller frees. */
int summary_build(const struct results *results, struct summary **rows,
		  size_t *count, struct error *err);

/* summary.csv of a campaign; the caller checks ferror(). */
int summary_write(const struct campaign *campaign, int include_warmup,
		  FILE *out, struct error *err);

void export_row_set(struct export_row *row, const struct result *cell);

#endif
