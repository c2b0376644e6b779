#include "bench/record/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define METRIC_KIND(name, ...) [METRIC_##name] = { __VA_ARGS__ },
const struct metric_kind metric_kinds[METRIC_COUNT] = { METRICS(METRIC_KIND) };

struct stats stats_single(double value)
{
	return stats_compute(&value, isfinite(value) ? 1 : 0);
}

void result_clear(struct result *result)
{
	int i;

	*result = (struct result){ .first_iter_s = NAN };
	for (i = 0; i < METRIC_COUNT; i++)
		result->values[i] = stats_compute(NULL, 0);
}

enum { P99_FEWEST = 100 };

/* What is added up while the rows of a run are passed over. */
struct sums {
	double *iterations, *epochs; /* seconds of each */
	size_t iteration_count, epoch_count;
	double *model_iterations, *model_epochs;
	size_t model_iteration_count, model_epoch_count;
	double model_loop_s, model_training_s; /* steps and loader */
	double steps_s, loader_s;
	long samples;
	size_t timed_steps, loaders;
	double ahead_s; /* of iterations that were timed together */
	size_t ahead_steps;
	double setup_s, loop_s, accuracy_pct, loss;
	double target_accuracy_pct;
	long reached_epoch; /* the first that reached the accuracy; 0: none */
};

static int row_counts(const struct observation *row)
{
	return strcmp(row->status, "ok") == 0 && isfinite(row->elapsed_s);
}

static void count_steps(struct sums *sums, const struct observation *row,
			size_t steps)
{
	sums->timed_steps += steps;
	sums->steps_s += row->elapsed_s;
	if (row->samples == CELL_NO_INT || sums->samples == CELL_NO_INT)
		sums->samples = CELL_NO_INT;
	else
		sums->samples += row->samples;
}

static void add_step(struct sums *sums, const struct observation *row,
		     int include_warmup, struct result *result)
{
	int is_warmup = row->is_warmup == 1;

	if (!isfinite(result->first_iter_s))
		result->first_iter_s = row->elapsed_s;
	result->warmup_steps += is_warmup ? 1 : 0;
	if (!is_warmup || include_warmup)
		sums->iterations[sums->iteration_count++] = row->elapsed_s;
	if (is_warmup)
		return;
	count_steps(sums, row, 1);
}

/* Iterations of an epoch that only have a time together. */
static void add_steps(struct sums *sums, const struct observation *row)
{
	if (row->iter < 1)
		return;
	sums->ahead_s += row->elapsed_s;
	sums->ahead_steps += (size_t)row->iter;
	count_steps(sums, row, (size_t)row->iter);
}

static void add_row(struct sums *sums, const struct observation *row)
{
	if (strcmp(row->phase, "setup") == 0) {
		sums->setup_s = row->elapsed_s;
	} else if (strcmp(row->phase, "steps") == 0) {
		add_steps(sums, row);
	} else if (strcmp(row->phase, "loop") == 0) {
		sums->loop_s = row->elapsed_s;
	} else if (strcmp(row->phase, "epoch") == 0) {
		sums->epochs[sums->epoch_count++] = row->elapsed_s;
	} else if (strcmp(row->phase, "loader") == 0) {
		sums->loaders++;
		sums->loader_s += row->elapsed_s;
	} else if (strcmp(row->phase, "test") == 0) {
		sums->accuracy_pct = row->accuracy_pct;
		sums->loss = row->loss;
		if (!sums->reached_epoch && row->epoch > 0 &&
		    row->accuracy_pct >= sums->target_accuracy_pct)
			sums->reached_epoch = row->epoch;
	}
}

static void add_model(struct sums *sums, const struct observation *row,
		      int include_warmup)
{
	if (strcmp(row->phase, "step") == 0) {
		if (row->is_warmup != 1 || include_warmup)
			sums->model_iterations[sums->model_iteration_count++] =
				row->elapsed_s;
		if (row->is_warmup != 1)
			sums->model_training_s += row->elapsed_s;
	} else if (strcmp(row->phase, "loader") == 0) {
		sums->model_training_s += row->elapsed_s;
	} else if (strcmp(row->phase, "epoch") == 0) {
		sums->model_epochs[sums->model_epoch_count++] =
			row->elapsed_s;
	} else if (strcmp(row->phase, "loop") == 0) {
		sums->model_loop_s = row->elapsed_s;
	}
}

/* The loop up to then, less what checking replicas takes between epochs. */
static double time_to_epoch(const struct observation *const *rows,
			    size_t row_count, long last)
{
	const struct observation *row;
	double elapsed = 0;
	long seen = 0;
	size_t i;

	for (i = 0; i < row_count; i++) {
		row = rows[i];
		if (!row_counts(row) || strcmp(row->phase, "epoch") ||
		    observation_is_modelled(row) || row->epoch < 1 ||
		    row->epoch > last)
			continue;
		elapsed += row->elapsed_s;
		seen++;
	}
	return last > 0 && seen == last ? elapsed : NAN;
}

static void set_value(struct result *result, enum metric metric, double value,
		      size_t observations)
{
	result->values[metric] = stats_single(value);
	result->observations[metric] = isfinite(value) ? observations : 0;
}

static void set_list(struct result *result, enum metric metric, double *values,
		     size_t count)
{
	result->values[metric] = stats_compute(values, count);
	result->observations[metric] = count;
}

static double either(double first, double second)
{
	return isfinite(first) ? first : second;
}

static void set_process(struct result *result, const struct run *run)
{
	double updates = run->updates == CELL_NO_INT ? NAN :
						       (double)run->updates;
	double memory = run->maxrss_bytes == CELL_NO_INT ?
				NAN : (double)run->maxrss_bytes;

	set_value(result, METRIC_MAXRSS, memory, 1);
	set_value(result, METRIC_CPU, run->cpu_user_s + run->cpu_sys_s, 1);
	if (isfinite(updates))
		set_value(result, METRIC_UPDATES, updates, 1);
}

static void set_results(struct result *result, const struct run *run,
			struct sums *sums, double time_to_accuracy_s)
{
	/* Of iterations that have no times of their own there may still be
	 * warm-ups that have. */
	const size_t n = sums->ahead_steps ? 0 : sums->iteration_count;
	const size_t timed = sums->timed_steps;

	/* One number, without a spread of anything. */
	if (sums->ahead_steps)
		set_value(result, METRIC_ITER, sums->ahead_s /
			  (double)sums->ahead_steps, sums->ahead_steps);
	else
		set_list(result, METRIC_ITER, sums->iterations, n);
	set_list(result, METRIC_EPOCH, sums->epochs, sums->epoch_count);
	set_list(result, METRIC_MODEL_ITER, sums->model_iterations,
		 sums->model_iteration_count);
	set_list(result, METRIC_MODEL_EPOCH, sums->model_epochs,
		 sums->model_epoch_count);
	set_value(result, METRIC_P50,
		  stats_quantile(sums->iterations, n, .5), n);
	/* Of fewer it is about the slowest one. */
	set_value(result, METRIC_P99, n < P99_FEWEST ? NAN :
		  stats_quantile(sums->iterations, n, .99), n);
	set_value(result, METRIC_SETUP, either(sums->setup_s, run->setup_s), 1);
	if (timed && sums->loaders && sums->samples > 0)
		set_value(result, METRIC_RATE, (double)sums->samples /
			  (sums->steps_s + sums->loader_s), timed);
	if (timed && sums->samples > 0 && sums->model_training_s > 0)
		set_value(result, METRIC_MODEL_RATE, (double)sums->samples /
			  sums->model_training_s, timed);
	if (timed)
		set_value(result, METRIC_UPDATES, (double)timed, 1);
	set_process(result, run);
	set_value(result, METRIC_TIME_TO_ACCURACY,
		  either(run->time_to_accuracy_s, time_to_accuracy_s), 1);
	if (sums->reached_epoch)
		set_value(result, METRIC_EPOCHS_TO_ACCURACY,
			  (double)sums->reached_epoch, 1);
	else if (run->epochs_to_accuracy != CELL_NO_INT)
		set_value(result, METRIC_EPOCHS_TO_ACCURACY,
			  (double)run->epochs_to_accuracy, 1);
	/* A loop that was cut short has no length, nor an end. */
	if (result->outcome != OUTCOME_OK)
		return;
	set_value(result, METRIC_LOOP, either(sums->loop_s, run->loop_s), 1);
	set_value(result, METRIC_MODEL_LOOP, sums->model_loop_s, 1);
	set_value(result, METRIC_ACCURACY,
		  either(sums->accuracy_pct, run->final_accuracy_pct), 1);
	/* Without a test the run's last loss is that of an iteration. */
	set_value(result, METRIC_LOSS, isfinite(run->final_accuracy_pct) ?
		  either(sums->loss, run->final_loss) : sums->loss, 1);
}

static enum outcome outcome_of(const struct run *run)
{
	if (strcmp(run->status, "ok") == 0)
		return OUTCOME_OK;
	if (strcmp(run->status, "partial") == 0)
		return OUTCOME_PARTIAL;
	if (strcmp(run->status, "skipped") == 0)
		return OUTCOME_SKIPPED;
	return OUTCOME_ERROR;
}

int result_measure(struct result *result, const struct run *run,
		   const struct observation *const *rows, size_t row_count,
		   int include_warmup, struct error *err)
{
	struct sums sums = { .setup_s = NAN, .loop_s = NAN,
			     .model_loop_s = NAN, .accuracy_pct = NAN,
			     .loss = NAN,
			     .target_accuracy_pct = run_target_accuracy(run) };
	size_t i;

	result_clear(result);
	result->run = run;
	result->outcome = outcome_of(run);
	result->reason = run->reason;
	if (result->outcome != OUTCOME_OK && result->outcome != OUTCOME_PARTIAL)
		return 0;
	sums.iterations = malloc((4 * row_count + 1) * sizeof(double));
	if (!sums.iterations)
		return error_memory(err, "the numbers of a run");
	sums.epochs = sums.iterations + row_count;
	sums.model_iterations = sums.epochs + row_count;
	sums.model_epochs = sums.model_iterations + row_count;
	for (i = 0; i < row_count; i++) {
		if (!row_counts(rows[i]))
			continue;
		if (observation_is_modelled(rows[i]))
			add_model(&sums, rows[i], include_warmup);
		else if (strcmp(rows[i]->phase, "step") == 0)
			add_step(&sums, rows[i], include_warmup, result);
		else if (rows[i]->is_warmup != 1)
			add_row(&sums, rows[i]);
	}
	result->runs = 1;
	set_results(result, run, &sums,
		    time_to_accuracy(run, time_to_epoch(rows, row_count,
							sums.reached_epoch)));
	free(sums.iterations);
	return 0;
}
