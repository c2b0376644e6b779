#include "bench/record/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/rows_by_run.h"

/* A larger table would be unreadable and take much memory. */
enum { MOST_CELLS = 100000 };

/* Position of a run in the tables. */
struct place {
	int target, setup;
	int repetition; /* of its target in its setup, from 1 */
};

/* The runs while lines are made. */
struct maker {
	struct results *results;
	struct rows_by_run rows;
	struct place *places; /* [run_count] */
	struct setup *setups; /* [setup_count], at most one a run */
	int setup_count;
};

struct setup {
	const struct run *first;
	int repetitions; /* of the target that has most */
	int line;	 /* the first of its lines */
};

/* The names met so far, each with its number. */
struct met {
	struct names targets, setups, pairs;
	int *repetitions; /* of each pair of a setup and a target */
};

static int place_run(struct maker *maker, struct met *met, size_t at,
		     struct error *err)
{
	struct results *results = maker->results;
	const struct run *run = &results->runs[at];
	struct place *place = &maker->places[at];
	struct setup *setup;
	char text[32];
	int pair;

	place->target = names_number(&met->targets, run->target, err);
	place->setup = names_number(&met->setups, run->campaign_id, err);
	if (place->target < 0 || place->setup < 0)
		return -1;
	snprintf(text, sizeof(text), "%d %d", place->setup, place->target);
	pair = names_number(&met->pairs, text, err);
	if (pair < 0)
		return -1;
	place->repetition = ++met->repetitions[pair];
	results->targets[place->target] = run->target;
	results->target_count = met->targets.count;
	setup = &maker->setups[place->setup];
	if (place->setup == maker->setup_count) {
		*setup = (struct setup){ .first = run };
		maker->setup_count++;
	}
	if (place->repetition > setup->repetitions)
		setup->repetitions = place->repetition;
	return 0;
}

static int place_runs(struct maker *maker, struct error *err)
{
	struct results *results = maker->results;
	const size_t room = results->run_count + 1;
	struct met met = { .repetitions = calloc(room, sizeof(int)) };
	int failed = 0;

	results->targets = malloc(room * sizeof(*results->targets));
	maker->places = malloc(room * sizeof(*maker->places));
	maker->setups = malloc(room * sizeof(*maker->setups));
	if (!met.repetitions || !results->targets || !maker->places ||
	    !maker->setups)
		failed = error_memory(err, "targets");
	for (size_t i = 0; i < results->run_count && !failed; i++)
		failed = place_run(maker, &met, i, err);
	names_free(&met.targets);
	names_free(&met.setups);
	names_free(&met.pairs);
	free(met.repetitions);
	return failed;
}

static int add_line(struct results *results, const struct setup *setup,
		    int number, int repetition, struct error *err)
{
	const int targets = results->target_count;
	struct line *line = &results->lines[results->line_count];

	*line = (struct line){
		.run = setup->first,
		.setup = number,
		.repetition = repetition,
		.repetitions = setup->repetitions,
		.cells = malloc(((size_t)targets + 1) * sizeof(*line->cells)),
		.target_count = targets,
	};
	if (!line->cells)
		return error_memory(err, "lines");
	for (int t = 0; t < targets; t++)
		result_clear(&line->cells[t], line);
	results->line_count++;
	return 0;
}

/* Makes a line per repetition of each setup, and one for the whole setup;
 * without repetitions, only the latter. */
static int make_lines(struct maker *maker, struct error *err)
{
	struct results *results = maker->results;
	size_t lines = (size_t)maker->setup_count;

	for (int s = 0; s < maker->setup_count; s++)
		if (maker->setups[s].repetitions > 1)
			lines += (size_t)maker->setups[s].repetitions;
	if (lines * (size_t)results->target_count > MOST_CELLS)
		return error_set(err, ERROR_INPUT, "%zu lines of %d targets "
				 "are too many for one table: give fewer "
				 "folders or files", lines,
				 results->target_count);
	results->lines = calloc(lines + 1, sizeof(*results->lines));
	if (!results->lines)
		return error_memory(err, "lines");
	for (int s = 0; s < maker->setup_count; s++) {
		struct setup *setup = &maker->setups[s];
		const int several = setup->repetitions > 1;

		setup->line = results->line_count;
		for (int r = 1; several && r <= setup->repetitions; r++)
			if (add_line(results, setup, s, r, err))
				return -1;
		if (add_line(results, setup, s, 0, err))
			return -1;
	}
	return 0;
}

static int measure_runs(struct maker *maker, struct error *err)
{
	struct results *results = maker->results;
	const struct observation *const *rows;
	size_t count;

	for (size_t i = 0; i < results->run_count; i++) {
		const struct place *place = &maker->places[i];
		const struct line *line =
			&results->lines[maker->setups[place->setup].line +
					place->repetition - 1];

		rows = rows_by_run_find(&maker->rows, results->runs[i].run_id,
					&count);
		if (result_measure(&line->cells[place->target],
				   &results->runs[i], rows, count,
				   results->include_warmup, err))
			return -1;
	}
	return 0;
}

const struct line *line_runs(const struct line *line, int *count)
{
	if (line->repetition || line->repetitions == 1) {
		*count = 1;
		return line;
	}
	*count = line->repetitions;
	return line - line->repetitions;
}

int line_is_setup(const struct line *line)
{
	return line->repetition == 0;
}

const struct line *next_setup(const struct results *results, int *next)
{
	while (*next < results->line_count) {
		const struct line *line = &results->lines[(*next)++];

		if (line_is_setup(line))
			return line;
	}
	return NULL;
}

const struct result *next_cell(const struct results *results, int *next)
{
	const int targets = results->target_count, at = *next;

	if (at >= results->line_count * targets)
		return NULL;
	++*next;
	return &results->lines[at / targets].cells[at % targets];
}

const struct result *next_target(const struct line *line, int *next)
{
	while (*next < line->target_count) {
		const struct result *cell = &line->cells[(*next)++];

		if (cell->run)
			return cell;
	}
	return NULL;
}

const struct result *next_repetition(const struct result *cell, int *next)
{
	int count;
	const struct line *runs = line_runs(cell->line, &count);

	return *next < count ?
		       &runs[(*next)++].cells[cell - cell->line->cells] : NULL;
}

const struct run *next_run(const struct line *line, int *next)
{
	const int targets = line->target_count;
	int count;
	const struct line *runs = line_runs(line, &count);

	while (*next < count * targets) {
		const int at = (*next)++;
		const struct run *run = runs[at / targets]
					.cells[at % targets].run;

		if (run)
			return run;
	}
	return NULL;
}

/* Sets a rate over the base's rate; missing if either is not known. */
static void set_speedup(struct result *cell, enum metric speedup,
			enum metric rate, const struct result *base)
{
	cell->values[speedup] = stats_single(
		base ? cell->values[rate].mean / base->values[rate].mean : NAN);
	cell->observations[speedup] = cell->observations[rate];
}

/* Speed-up and efficiency need a one-core target of the line. */
static void compare_cell(struct result *cell, const struct result *base)
{
	set_speedup(cell, METRIC_SPEEDUP, METRIC_RATE, base);
	set_speedup(cell, METRIC_MODEL_SPEEDUP, METRIC_MODEL_RATE, base);
	cell->observations[METRIC_EFFICIENCY] = cell->observations[METRIC_RATE];
	/* A device's units are no cores that could be counted. */
	if (!run_is_on_devices(cell->run) &&
	    (cell->run->cores > 1 || run_is_one_core(cell->run)))
		cell->values[METRIC_EFFICIENCY] =
			stats_single(cell->values[METRIC_SPEEDUP].mean /
				     (double)cell->run->cores);
}

const struct result *line_base(const struct line *line)
{
	const struct result *base = NULL, *cell;

	for (int at = 0; (cell = next_target(line, &at));)
		if (cell->outcome == OUTCOME_OK && run_is_one_core(cell->run) &&
		    (!base || !base->values[METRIC_RATE].count ||
		     !strcmp(cell->run->target, "cpu-1")))
			base = cell;
	return base;
}

const struct result *line_first_rate(const struct line *line)
{
	const struct result *cell;

	for (int at = 0; (cell = next_target(line, &at));)
		if (cell->values[METRIC_RATE].count)
			return cell;
	return NULL;
}

/* One metric over the repetitions that were finished. values has room for
 * all. */
static void pool_metric(struct result *pooled, enum metric metric,
			double *values)
{
	const struct result *cell;
	size_t count = 0;

	for (int at = 0; (cell = next_repetition(pooled, &at));) {
		if (cell->outcome != OUTCOME_OK || !cell->values[metric].count)
			continue;
		values[count++] = cell->values[metric].mean;
		pooled->observations[metric] += cell->observations[metric];
	}
	pooled->values[metric] = stats_compute(values, count);
}

static void pool_target(struct result *pooled, double *values)
{
	const struct result *cell;
	double whole_s = 0;

	for (int at = 0; (cell = next_repetition(pooled, &at));) {
		if (!cell->run)
			continue;
		if (cell->outcome == OUTCOME_OK) {
			pooled->runs++;
			whole_s += cell->whole_epoch_s;
			pooled->warmup_steps += cell->warmup_steps;
		}
		if (pooled->run && (pooled->outcome == OUTCOME_OK ||
				    cell->outcome != OUTCOME_OK))
			continue;
		pooled->run = cell->run;
		pooled->outcome = cell->outcome;
		pooled->reason = cell->reason;
	}
	if (pooled->runs)
		pooled->whole_epoch_s = whole_s / pooled->runs;
	for (int i = 0; i < METRIC_COUNT; i++)
		pool_metric(pooled, (enum metric)i, values);
}

static int make_results(struct maker *maker, const struct campaign *campaign,
			enum results_kind kind, struct error *err)
{
	if (rows_by_run_make(&maker->rows, campaign, err) ||
	    results_gather_runs(maker->results, &maker->rows, campaign, kind,
				err) ||
	    place_runs(maker, err) || make_lines(maker, err))
		return -1;
	return measure_runs(maker, err);
}

int result_has_tried(const struct result *cell)
{
	return cell->outcome == OUTCOME_OK ||
	       (cell->outcome == OUTCOME_ERROR &&
		cell->run->exit_code != ERROR_MISSING);
}

static double cell_time(const struct result *cell)
{
	const struct stats *time = &cell->values[METRIC_TIME_TO_ACCURACY];

	return cell->outcome == OUTCOME_OK && time->count ? time->mean :
							    INFINITY;
}

static void set_value(struct result *result, enum metric metric, double value)
{
	result->values[metric] = stats_single(value);
	result->observations[metric] = (size_t)result->score.runs;
}

/* Collects the times of runs that tried. times has room for all runs of the
 * line. */
static int collect_times(const struct result *cell, double *times)
{
	const struct result *run;
	int count = 0;

	for (int at = 0; (run = next_repetition(cell, &at));)
		if (result_has_tried(run))
			times[count++] = cell_time(run);
	return count;
}

/* Drops means over only those runs that reached the accuracy: they would be too
 * good. The score counts runs that failed. */
static void drop_survivors(struct result *cell, int tried)
{
	struct stats *time = &cell->values[METRIC_TIME_TO_ACCURACY];
	struct stats *epochs = &cell->values[METRIC_EPOCHS_TO_ACCURACY];

	if (time->count < (size_t)tried)
		*time = *epochs = stats_compute(NULL, 0);
}

static void score_target(struct result *cell, int has_target, double *times)
{
	const int tried = collect_times(cell, times);

	drop_survivors(cell, tried);
	if (!tried || !has_target)
		return;
	cell->score = accuracy_score_of(times, tried);
	set_value(cell, METRIC_REACHED, cell->score.reached);
	set_value(cell, METRIC_SCORE, cell->score.mean);
}

double line_target_accuracy(const struct line *line)
{
	const struct run *run;

	/* A run that failed early may lack it. */
	for (int at = 0; (run = next_run(line, &at));)
		if (isfinite(run->target_accuracy_pct))
			return run->target_accuracy_pct;
	return NAN;
}

/* Sets the numbers that need other runs. The line of a whole setup follows the
 * lines of its repetitions. */
static void finish_line(const struct line *line, double *values)
{
	const struct result *base = line_base(line);
	const int has_target = isfinite(line_target_accuracy(line));

	for (int t = 0; t < line->target_count; t++) {
		struct result *cell = &line->cells[t];

		if (line_is_setup(line) && line->repetitions > 1)
			pool_target(cell, values);
		else if (cell->outcome == OUTCOME_OK)
			compare_cell(cell, base);
		if (line_is_setup(line))
			score_target(cell, has_target, values);
	}
}

static int finish_lines(struct results *results, struct error *err)
{
	double *values = malloc((results->run_count + 1) * sizeof(*values));

	if (!values)
		return error_memory(err, "lines");
	for (int i = 0; i < results->line_count; i++)
		finish_line(&results->lines[i], values);
	free(values);
	return 0;
}

int results_build(struct results *results, const struct campaign *campaign,
		  enum results_kind kind, int include_warmup,
		  struct error *err)
{
	struct maker maker = { .results = results };
	int failed;

	*results = (struct results){ .include_warmup = include_warmup };
	failed = make_results(&maker, campaign, kind, err);
	rows_by_run_free(&maker.rows);
	free(maker.places);
	free(maker.setups);
	if (!failed)
		failed = finish_lines(results, err);
	if (failed)
		results_free(results);
	return failed;
}

int results_have_times(const struct results *results)
{
	const struct result *cell;

	for (int at = 0; (cell = next_cell(results, &at));)
		if (cell->values[METRIC_LOOP].count ||
		    cell->values[METRIC_ITER].count ||
		    cell->values[METRIC_EPOCH].count)
			return 1;
	return 0;
}

void results_free(struct results *results)
{
	for (int i = 0; i < results->line_count; i++)
		free(results->lines[i].cells);
	free(results->lines);
	free(results->targets);
	free(results->runs);
	*results = (struct results){ 0 };
}
