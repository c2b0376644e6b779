/* Rows made from the results of a campaign. A row of summary.csv is one number
 * of one target; a row of --export-csv is all numbers of a target. */
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
	TEXT(campaign_id, 48, "invocation of bench run") \
	TEXT(label, 64, "--label of that invocation") \
	TEXT(target, 48, "measured target") \
	INT(cores, "emulated cores") \
	INT(n_runs, "processes; several: the numbers are means over them") \
	TEXT(status, 12, "ok, partial, error or skipped") \
	TEXT(reason, 200, "why the status is not ok") \
	REAL(loop_s, "training loop") \
	REAL(loop_std_s, "standard deviation across runs; empty: one run") \
	REAL(iter_s, "mean iteration") \
	/* Values of a run, or means over several runs. */ \
	REAL(iter_std_s, "standard deviation of a run's iterations") \
	REAL(iter_q1_s, "25th percentile of a run's iterations") \
	REAL(iter_q3_s, "75th percentile of a run's iterations") \
	REAL(epoch_s, "mean epoch, its test included") \
	REAL(epoch_std_s, "standard deviation of a run's epochs") \
	INT(n_iterations, "iterations of all runs") \
	INT(n_epochs, "epochs of all runs") \
	REAL(updates, "parameter updates of a run") \
	INT(global_batch, "samples of all cores per iteration") \
	REAL(setup_s, "start-up, without warm-up") \
	REAL(images_per_s, "training samples per second of iterations and " \
	     "waits for the loader") \
	REAL(speedup, "images_per_s, relative to the one-core target") \
	REAL(speedup_lo, "lower end of its 95 % t interval across runs; " \
	     "empty: one run") \
	REAL(speedup_hi, "upper end of that interval") \
	REAL(efficiency, "speedup divided by cores") \
	REAL(final_accuracy_pct, "accuracy of the last test") \
	REAL(final_loss, "loss of the last test") \
	REAL(iter_p50_s, "median iteration of a run") \
	REAL(iter_p99_s, "99th percentile of a run's iterations") \
	REAL(maxrss_bytes, "peak memory of the process") \
	INT(cpus, "CPUs that the process was confined to") \
	REAL(cpu_s, "CPU time of the process, user and system") \
	TEXT(device_name, 128, "name in the device's driver; several " \
	     "devices: all different names") \
	TEXT(device_type, 16, "CPU, GPU, ...") \
	TEXT(model, 32, "network") \
	TEXT(dataset, 32, "data set, named by its content") \
	INT(seed, "seed of the first run") \
	INT(warmup_steps, "warm-up iterations of all runs") \
	TEXT(cpu_model, 80, "CPU model of the machine") \
	REAL(model_loop_s, "training loop on a host with a free CPU per " \
	     "core, estimated") \
	REAL(model_iter_s, "mean iteration there") \
	REAL(model_epoch_s, "mean epoch there") \
	REAL(target_accuracy_pct, "--target-accuracy; empty: none, and " \
	     "time_to_accuracy_s is for 99 %") \
	REAL(time_to_accuracy_s, "mean time to the accuracy; empty: a run " \
	     "did not reach it") \
	REAL(time_to_accuracy_median_s, "median time to the accuracy") \
	REAL(epochs_to_accuracy, "mean epochs of the runs that reached the " \
	     "accuracy") \
	INT(n_reached, "runs that reached the accuracy; empty: no target") \
	SETTING_COLUMNS(TEXT, INT, REAL) \
	REAL(iter_runs_std_s, "standard deviation of the runs' mean " \
	     "iterations; empty: one run") \
	REAL(epoch_runs_std_s, "standard deviation of the runs' mean epochs; " \
	     "empty: one run") \
	REAL(score_s, "score of runs with a target accuracy, as in " \
	     "summary.csv")

struct export_row {
	EXPORT_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind export_rows;

/* Makes the rows of summary.csv. The caller frees *rows. */
int summary_build(const struct results *results, struct summary **rows,
		  size_t *count, struct error *err);

/* Writes the summary.csv of a campaign. The caller checks ferror(). */
int summary_write(const struct campaign *campaign, int include_warmup,
		  FILE *out, struct error *err);

void export_row_set(struct export_row *row, const struct result *cell);

#endif
