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

void result_clear(struct result *result, const struct line *line)
{
	*result = (struct result){ .line = line, .first_iter_s = NAN,
				   .whole_epoch_s = NAN, .first_loss = NAN,
				   .last_loss = NAN };
	for (int i = 0; i < METRIC_COUNT; i++)
		result->values[i] = stats_compute(NULL, 0);
}

/* The times of one clock. */
struct times {
	double *iterations, *epochs; /* seconds of each */
	size_t iteration_count, epoch_count;
	double loop_s, steps_s, loader_s;
};

/* Sums over the rows of a run. */
struct run_sums {
	struct times wall, model;
	long samples;
	size_t timed_steps, loaders;
	double ahead_s; /* of iterations that were timed together */
	size_t ahead_steps;
	double setup_s, accuracy_pct, loss, train_loss;
	double test_s;
	size_t tests;
	double target_accuracy_pct;
	long reached_epoch; /* the first that reached the accuracy; 0: none */
};

static int row_counts(const struct observation *row)
{
	return strcmp(row->status, "ok") == 0 && isfinite(row->elapsed_s);
}

static void add_times(struct times *times, const struct observation *row,
		      int include_warmup)
{
	const int is_step = !strcmp(row->phase, "step");

	if (is_step && (row->is_warmup != 1 || include_warmup))
		times->iterations[times->iteration_count++] = row->elapsed_s;
	if (row->is_warmup == 1)
		return;
	if (is_step || !strcmp(row->phase, "steps"))
		times->steps_s += row->elapsed_s;
	else if (!strcmp(row->phase, "loader"))
		times->loader_s += row->elapsed_s;
	else if (!strcmp(row->phase, "epoch"))
		times->epochs[times->epoch_count++] = row->elapsed_s;
	else if (!strcmp(row->phase, "loop"))
		times->loop_s = row->elapsed_s;
}

static void count_steps(struct run_sums *sums, const struct observation *row,
			size_t steps)
{
	sums->timed_steps += steps;
	if (row->samples == CELL_NO_INT || sums->samples == CELL_NO_INT ||
	    __builtin_add_overflow(sums->samples, row->samples,
				   &sums->samples))
		sums->samples = CELL_NO_INT;
}

/* Adds a row of the wall clock that is no warm-up. */
static void add_row(struct run_sums *sums, const struct observation *row)
{
	if (strcmp(row->phase, "setup") == 0) {
		sums->setup_s = row->elapsed_s;
	} else if (strcmp(row->phase, "step") == 0) {
		count_steps(sums, row, 1);
	} else if (strcmp(row->phase, "steps") == 0) {
		sums->ahead_s += row->elapsed_s;
		sums->ahead_steps += (size_t)row->iter;
		count_steps(sums, row, (size_t)row->iter);
	} else if (strcmp(row->phase, "loader") == 0) {
		sums->loaders++;
	} else if (strcmp(row->phase, "epoch") == 0) {
		sums->train_loss = row->loss;
	} else if (strcmp(row->phase, "test") == 0) {
		sums->test_s += row->elapsed_s;
		sums->tests++;
		sums->accuracy_pct = row->accuracy_pct;
		sums->loss = row->loss;
		if (!sums->reached_epoch && row->epoch > 0 &&
		    row->accuracy_pct >= sums->target_accuracy_pct)
			sums->reached_epoch = row->epoch;
	}
}

/* The loop up to then, less what checking replicas takes between epochs. */
static double time_to_epoch(const struct observation *const *rows,
			    size_t row_count, long last)
{
	double elapsed = 0;
	long seen = 0;

	for (size_t i = 0; i < row_count; i++) {
		const struct observation *row = rows[i];

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

static void set_iterations(struct result *result, const struct run *run,
			   const struct run_sums *sums)
{
	const struct times *wall = &sums->wall;
	/* If iterations have no times of their own, warm-up steps may still
	 * have. */
	const size_t n = sums->ahead_steps ? 0 : wall->iteration_count;

	/* One number, without a spread of anything. */
	if (sums->ahead_steps)
		set_value(result, METRIC_ITER, sums->ahead_s /
			  (double)sums->ahead_steps, sums->ahead_steps);
	else
		set_list(result, METRIC_ITER, wall->iterations, n);
	set_value(result, METRIC_P50,
		  stats_quantile(wall->iterations, n, .5), n);
	if (run_is_inference(run)) {
		set_value(result, METRIC_P90,
			  stats_quantile(wall->iterations, n, .9), n);
		set_value(result, METRIC_P95,
			  stats_quantile(wall->iterations, n, .95), n);
	}
	/* With fewer iterations, p99 would be the slowest one. */
	set_value(result, METRIC_P99, n < P99_FEWEST ? NAN :
		  stats_quantile(wall->iterations, n, .99), n);
}

static void set_rates(struct result *result, const struct run_sums *sums)
{
	const struct times *wall = &sums->wall, *model = &sums->model;
	const double model_s = model->steps_s + model->loader_s;
	const double samples = (double)sums->samples;

	if (sums->timed_steps && sums->loaders && samples > 0)
		set_value(result, METRIC_RATE, samples /
			  (wall->steps_s + wall->loader_s), sums->timed_steps);
	if (sums->timed_steps && samples > 0 && model_s > 0)
		set_value(result, METRIC_MODEL_RATE, samples / model_s,
			  sums->timed_steps);
}

/* Seconds of the test images that the tests of an epoch left out. */
static double untested_s(const struct run *run, const struct run_sums *sums)
{
	const double tested = (double)run_tested(run);

	return !sums->tests || run->test_samples == CELL_NO_INT ? 0 :
		       sums->test_s / (double)sums->tests *
			       ((double)run->test_samples / tested - 1);
}

static double whole_epoch(const struct result *result, const struct run *run,
			  const struct run_sums *sums)
{
	const long whole = run_whole_epoch(run), batch = run->global_batch;
	double samples;

	if (!run_is_cut(run) || whole == CELL_NO_INT || batch == CELL_NO_INT)
		return NAN;
	samples = (double)whole * (double)batch;
	/* The last iteration may have fewer. */
	if (run->train_samples != CELL_NO_INT)
		samples = fmin(samples, (double)run->train_samples);
	return result->values[METRIC_EPOCH].mean +
	       (samples - (double)run->steps * (double)batch) /
		       result->values[METRIC_RATE].mean +
	       untested_s(run, sums);
}

static void set_process(struct result *result, const struct run *run,
			const struct run_sums *sums)
{
	const long updates = run->updates == CELL_NO_INT ?
				     (long)sums->timed_steps : run->updates;
	const long reached = sums->reached_epoch ? sums->reached_epoch :
						   run->epochs_to_accuracy;

	set_value(result, METRIC_CPU, run->cpu_user_s + run->cpu_sys_s, 1);
	set_value(result, METRIC_SETUP, either(sums->setup_s, run->setup_s), 1);
	if (run->maxrss_bytes != CELL_NO_INT)
		set_value(result, METRIC_MAXRSS, (double)run->maxrss_bytes, 1);
	if (updates || run->updates != CELL_NO_INT)
		set_value(result, METRIC_UPDATES, (double)updates, 1);
	if (reached != CELL_NO_INT)
		set_value(result, METRIC_EPOCHS_TO_ACCURACY, (double)reached,
			  1);
}

static void set_results(struct result *result, const struct run *run,
			const struct run_sums *sums, double time_to_accuracy_s)
{
	const struct times *wall = &sums->wall, *model = &sums->model;

	set_iterations(result, run, sums);
	set_list(result, METRIC_EPOCH, wall->epochs, wall->epoch_count);
	set_list(result, METRIC_MODEL_ITER, model->iterations,
		 model->iteration_count);
	set_list(result, METRIC_MODEL_EPOCH, model->epochs,
		 model->epoch_count);
	set_rates(result, sums);
	result->whole_epoch_s = whole_epoch(result, run, sums);
	set_process(result, run, sums);
	set_value(result, METRIC_TIME_TO_ACCURACY,
		  either(run->time_to_accuracy_s, time_to_accuracy_s), 1);
	/* A loop that was cut short has no length, nor an end. */
	if (result->outcome != OUTCOME_OK)
		return;
	set_value(result, METRIC_LOOP, either(wall->loop_s, run->loop_s), 1);
	set_value(result, METRIC_MODEL_LOOP, model->loop_s, 1);
	set_value(result, METRIC_ACCURACY,
		  either(sums->accuracy_pct, run->final_accuracy_pct), 1);
	if (!run_is_inference(run))
		set_value(result, METRIC_TRAIN_LOSS, sums->train_loss, 1);
	/* Without a test, the run's last loss is an iteration's. */
	set_value(result, METRIC_LOSS, isfinite(run->final_accuracy_pct) ?
		  either(sums->loss, run->final_loss) : sums->loss, 1);
}

const char *const outcome_names[] = {
	[OUTCOME_NONE] = "-",	       [OUTCOME_OK] = "ok",
	[OUTCOME_PARTIAL] = "partial", [OUTCOME_ERROR] = "error",
	[OUTCOME_SKIPPED] = "skipped",
};

static enum outcome outcome_of(const struct run *run)
{
	for (int i = OUTCOME_OK; i <= OUTCOME_SKIPPED; i++)
		if (!strcmp(run->status, outcome_names[i]))
			return (enum outcome)i;
	return OUTCOME_ERROR;
}

/* An iteration without a time (--sync epoch) has a loss, too. */
static void keep_loss(struct result *result, const struct observation *row)
{
	if (strcmp(row->phase, "step") || strcmp(row->status, "ok") ||
	    row->is_warmup == 1 || observation_is_modelled(row))
		return;
	if (!isfinite(result->first_loss))
		result->first_loss = row->loss;
	result->last_loss = row->loss;
}

static void add_all(struct result *result, struct run_sums *sums,
		    const struct observation *const *rows, size_t row_count,
		    int include_warmup)
{
	for (size_t i = 0; i < row_count; i++) {
		const struct observation *row = rows[i];

		keep_loss(result, row);
		/* Iterations that were timed together are one at least. */
		if (!row_counts(row) ||
		    (!strcmp(row->phase, "steps") && row->iter < 1))
			continue;
		if (observation_is_modelled(row)) {
			add_times(&sums->model, row, include_warmup);
			continue;
		}
		add_times(&sums->wall, row, include_warmup);
		if (row->is_warmup != 1)
			add_row(sums, row);
		if (strcmp(row->phase, "step"))
			continue;
		if (!isfinite(result->first_iter_s))
			result->first_iter_s = row->elapsed_s;
		result->warmup_steps += row->is_warmup == 1;
	}
}

int result_measure(struct result *result, const struct run *run,
		   const struct observation *const *rows, size_t row_count,
		   int include_warmup, struct error *err)
{
	struct run_sums sums = { .wall.loop_s = NAN, .model.loop_s = NAN,
			     .setup_s = NAN, .accuracy_pct = NAN, .loss = NAN,
			     .train_loss = NAN,
			     .target_accuracy_pct = run_target_accuracy(run) };
	double *seconds;

	result->run = run;
	result->outcome = outcome_of(run);
	result->reason = run->reason;
	if (result->outcome != OUTCOME_OK && result->outcome != OUTCOME_PARTIAL)
		return 0;
	seconds = malloc((4 * row_count + 1) * sizeof(*seconds));
	if (!seconds)
		return error_memory(err, "the numbers of a run");
	sums.wall.iterations = seconds;
	sums.wall.epochs = seconds + row_count;
	sums.model.iterations = seconds + 2 * row_count;
	sums.model.epochs = seconds + 3 * row_count;
	add_all(result, &sums, rows, row_count, include_warmup);
	result->runs = 1;
	set_results(result, run, &sums,
		    time_to_accuracy(run, time_to_epoch(rows, row_count,
							sums.reached_epoch)));
	free(seconds);
	return 0;
}
