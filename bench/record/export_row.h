/* A target with the numbers of all four tables: a row of --export-csv. */
#ifndef BENCH_RECORD_EXPORT_ROW_H
#define BENCH_RECORD_EXPORT_ROW_H

#include "bench/record/result.h"
#include "bench/record/column.h"

struct export_row {
	char schema[12];
	char campaign_id[48];
	char label[64];
	char target[48];
	long cores;
	long n_runs;
	char status[12];
	char reason[200];
	double loop_s, loop_std_s;
	/* But for iter_s of a run's iterations; of several runs the means of
	 * theirs. */
	double iter_s, iter_std_s, iter_q1_s, iter_q3_s;
	double epoch_s, epoch_std_s;
	long n_iterations, n_epochs;
	double updates;
	long global_batch;
	double setup_s, images_per_s, speedup, speedup_lo, speedup_hi;
	double efficiency, final_accuracy_pct, final_loss;
	double iter_p50_s, iter_p99_s;
	double maxrss_bytes;
	long cpus;
	double cpu_s;
	char device_name[128];
	char device_type[16];
	char model[32];
	char dataset[32];
	long seed;
	long warmup_steps;
	char cpu_model[80];
	double model_loop_s, model_iter_s, model_epoch_s;
	double target_accuracy_pct;
	double time_to_accuracy_s, time_to_accuracy_median_s;
	double epochs_to_accuracy;
	long n_reached;
	char algorithm[8], precision[8]; /* as in struct run */
	char device_class[8], resident[4], sync[8];
	long batch;
	double iter_runs_std_s, epoch_runs_std_s, score_s;
};

extern const struct row_kind export_rows;

void export_row_set(struct export_row *row, const struct line *line,
		    const struct result *cell);

#endif
