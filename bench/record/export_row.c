#include "bench/record/export_row.h"

#include <stddef.h>
#include <stdio.h>

#define TEXT(member, meaning) COLUMN_TEXT(export_row, member, meaning, 0)
#define INT(member, meaning) COLUMN_INT(export_row, member, meaning, 0)
#define REAL(member, meaning) COLUMN_REAL(export_row, member, meaning, 0)

static const struct column columns[] = {
	TEXT(schema, "version of the columns"),
	TEXT(campaign_id, "the invocation of bench run"),
	TEXT(label, "--label of that invocation"),
	TEXT(target, "what was timed"),
	INT(cores, "emulated cores"),
	INT(n_runs, "processes that the numbers are from; with several they "
	    "are the means of theirs"),
	TEXT(status, "ok, partial, error or skipped"),
	TEXT(reason, "why not ok"),
	REAL(loop_s, "the training loop"),
	REAL(loop_std_s, "deviation across runs; empty for one"),
	REAL(iter_s, "mean of an iteration"),
	REAL(iter_std_s, "standard deviation of a run's iterations"),
	REAL(iter_q1_s, "25th percentile of a run's iterations"),
	REAL(iter_q3_s, "75th percentile of them"),
	REAL(epoch_s, "mean of an epoch, its test included"),
	REAL(epoch_std_s, "standard deviation of a run's epochs"),
	INT(n_iterations, "iterations in the numbers, of all runs"),
	INT(n_epochs, "epochs in the numbers, of all runs"),
	REAL(updates, "parameter updates of a run"),
	INT(global_batch, "samples per iteration, of all cores"),
	REAL(setup_s, "start-up, without warm-up"),
	REAL(images_per_s, "training samples per second of iterations and of "
	     "waiting for the loader"),
	REAL(speedup, "images_per_s over that of the one-core target"),
	REAL(speedup_lo, "95 % t interval across runs; empty for one"),
	REAL(speedup_hi, "its upper end"),
	REAL(efficiency, "speedup over cores"),
	REAL(final_accuracy_pct, "of the last test"),
	REAL(final_loss, "of the last test"),
	REAL(iter_p50_s, "median iteration of a run"),
	REAL(iter_p99_s, "99th percentile of a run's iterations"),
	REAL(maxrss_bytes, "peak memory of the process"),
	INT(cpus, "CPUs the process was confined to"),
	REAL(cpu_s, "CPU time of the process, user and system"),
	TEXT(device_name, "as its driver calls it; of several all that differ"),
	TEXT(device_type, "CPU, GPU, ..."),
	TEXT(model, "network"),
	TEXT(dataset, "name, by content"),
	INT(seed, "of the first run"),
	INT(warmup_steps, "before the timed ones, of all runs"),
	TEXT(cpu_model, "of the machine"),
	REAL(model_loop_s, "the training loop on a host with a free CPU for "
	     "each core, an estimate"),
	REAL(model_iter_s, "mean of an iteration there"),
	REAL(model_epoch_s, "mean of an epoch there"),
	REAL(target_accuracy_pct, "--target-accuracy; empty: none, and the "
	     "next is about 99 %"),
	REAL(time_to_accuracy_s, "mean of the times to it; empty: a run did "
	     "not reach it"),
	REAL(time_to_accuracy_median_s, "their median"),
	REAL(epochs_to_accuracy, "mean of those runs that reached it"),
	INT(n_reached, "runs that reached it; empty: no target"),
	TEXT(algorithm, "fast, dense: see runs.csv"),
	TEXT(precision, "fp32, bf16, fp64"),
	TEXT(device_class, "cpu, gpu: of the device's kernels; empty: there "
	     "are no classes"),
	TEXT(resident, "yes, no: whether the device held the data set; empty: "
	     "it is none that could"),
	TEXT(sync, "step, epoch: how often the device was waited for"),
	INT(batch, "samples per core and iteration; empty: they differ"),
	REAL(iter_runs_std_s, "standard deviation of the runs' means; empty "
	     "for one"),
	REAL(epoch_runs_std_s, "likewise"),
	REAL(score_s, "of runs with a target accuracy: see summary.csv"),
};

const struct row_kind export_rows = {
	.schema = "bench/1",
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.row_size = sizeof(struct export_row),
};

#define COPY(to, text) snprintf(to, sizeof(to), "%s", text)

static void set_description(struct export_row *row, const struct line *line,
			    const struct run *run)
{
	COPY(row->campaign_id, line->run->campaign_id);
	COPY(row->label, line->run->label);
	COPY(row->target, run->target);
	COPY(row->status, run->status);
	COPY(row->reason, run->reason);
	COPY(row->device_name, run->device_name);
	COPY(row->device_type, run->device_type);
	COPY(row->model, run->model);
	COPY(row->dataset, run->dataset);
	COPY(row->cpu_model, run->cpu_model);
	COPY(row->algorithm, run->algorithm);
	COPY(row->precision, run->precision);
	COPY(row->device_class, run->device_class);
	COPY(row->resident, run->resident);
	COPY(row->sync, run->sync);
	row->cores = run->cores;
	row->batch = run->batch;
	row->global_batch = run->global_batch;
	row->cpus = run->cpus;
	row->seed = run->seed;
}

static double deviation(const struct stats *stats)
{
	return stats->count > 1 ? stats->std : CELL_NO_REAL;
}

/* The member of struct stats at offset: a run's own, or the mean of several
 * runs' own. */
static double within_runs(const struct line *line, const struct result *cell,
			  enum metric metric, size_t offset)
{
	const long target = cell - line->cells;
	double sum = 0;
	int i, count, found = 0;

	line = line_runs(line, &count);
	for (i = 0; i < count; i++) {
		const struct result *run = &line[i].cells[target];
		const struct stats *stats = &run->values[metric];

		if (run->outcome != cell->outcome || stats->count < 2)
			continue;
		sum += *(const double *)((const char *)stats + offset);
		found++;
	}
	return found ? sum / found : CELL_NO_REAL;
}

static void set_times(struct export_row *row, const struct line *line,
		      const struct result *cell)
{
	const struct stats *loop = &cell->values[METRIC_LOOP];
	const struct stats *iter = &cell->values[METRIC_ITER];
	const struct stats *epoch = &cell->values[METRIC_EPOCH];

	row->loop_s = loop->mean;
	row->loop_std_s = deviation(loop);
	row->iter_s = iter->mean;
	row->epoch_s = epoch->mean;
#define WITHIN(metric, member)                                                 \
	within_runs(line, cell, metric, offsetof(struct stats, member))
	row->iter_std_s = WITHIN(METRIC_ITER, std);
	row->iter_q1_s = WITHIN(METRIC_ITER, q1);
	row->iter_q3_s = WITHIN(METRIC_ITER, q3);
	row->epoch_std_s = WITHIN(METRIC_EPOCH, std);
#undef WITHIN
	if (line->repetitions > 1) {
		row->iter_runs_std_s = deviation(iter);
		row->epoch_runs_std_s = deviation(epoch);
	}
	row->n_iterations = (long)cell->observations[METRIC_ITER];
	row->n_epochs = (long)cell->observations[METRIC_EPOCH];
	row->warmup_steps = (long)cell->warmup_steps;
	row->model_loop_s = cell->values[METRIC_MODEL_LOOP].mean;
	row->model_iter_s = cell->values[METRIC_MODEL_ITER].mean;
	row->model_epoch_s = cell->values[METRIC_MODEL_EPOCH].mean;
}

static void set_accuracy(struct export_row *row, const struct result *cell)
{
	const struct stats *time = &cell->values[METRIC_TIME_TO_ACCURACY];

	row->epochs_to_accuracy = cell->values[METRIC_EPOCHS_TO_ACCURACY].mean;
	row->time_to_accuracy_s = time->mean;
	row->time_to_accuracy_median_s = time->median;
	if (!cell->score.runs)
		return;
	row->target_accuracy_pct = cell->run->target_accuracy_pct;
	row->score_s = cell->score.mean;
	row->time_to_accuracy_median_s = cell->score.median;
	row->n_reached = cell->score.reached;
}

void export_row_set(struct export_row *row, const struct line *line,
		    const struct result *cell)
{
	const struct stats *values = cell->values;
	double half = stats_half_width(&values[METRIC_SPEEDUP]);

	row_clear(&export_rows, row);
	set_description(row, line, cell->run);
	row->n_runs = cell->runs;
	set_accuracy(row, cell);
	if (!cell->runs)
		return;
	set_times(row, line, cell);
	row->updates = values[METRIC_UPDATES].mean;
	row->setup_s = values[METRIC_SETUP].mean;
	row->images_per_s = values[METRIC_RATE].mean;
	row->speedup = values[METRIC_SPEEDUP].mean;
	if (line->repetitions > 1) {
		row->speedup_lo = row->speedup - half;
		row->speedup_hi = row->speedup + half;
	}
	row->efficiency = values[METRIC_EFFICIENCY].mean;
	row->final_accuracy_pct = values[METRIC_ACCURACY].mean;
	row->final_loss = values[METRIC_LOSS].mean;
	row->iter_p50_s = values[METRIC_P50].mean;
	row->iter_p99_s = values[METRIC_P99].mean;
	row->maxrss_bytes = values[METRIC_MAXRSS].mean;
	row->cpu_s = values[METRIC_CPU].mean;
}
