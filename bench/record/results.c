#include "bench/record/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/results_runs.h"

/* More are no table that anybody could read, but much memory. */
enum { MOST_CELLS = 100000 };

/* Where a run goes in the tables. */
struct place {
	int target, setup;
	int repetition; /* of its target in its setup, from 1 */
};

/* What is known of the runs while the lines are made. */
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
	size_t i;

	results->targets = malloc(room * sizeof(*results->targets));
	maker->places = malloc(room * sizeof(*maker->places));
	maker->setups = malloc(room * sizeof(*maker->setups));
	if (!met.repetitions || !results->targets || !maker->places ||
	    !maker->setups)
		failed = error_memory(err, "targets");
	for (i = 0; i < results->run_count && !failed; i++)
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
	size_t cells = (size_t)results->target_count;
	struct line *line = &results->lines[results->line_count];
	size_t i;

	line->cells = malloc((cells + 1) * sizeof(*line->cells));
	if (!line->cells)
		return error_memory(err, "lines");
	for (i = 0; i < cells; i++)
		result_clear(&line->cells[i]);
	line->run = setup->first;
	line->setup = number;
	line->repetition = repetition;
	line->repetitions = setup->repetitions;
	results->line_count++;
	return 0;
}

/* For each setup a line for each repetition and one for the whole, which is
 * the only one where nothing was repeated. */
static int make_lines(struct maker *maker, struct error *err)
{
	struct results *results = maker->results;
	size_t lines = 0;
	int number, repetition;

	for (number = 0; number < maker->setup_count; number++) {
		repetition = maker->setups[number].repetitions;
		lines += repetition > 1 ? 1 + (size_t)repetition : 1;
	}
	if (lines * (size_t)results->target_count > MOST_CELLS)
		return error_set(err, ERROR_INPUT, "%zu lines of %d targets "
				 "are too many for one table: give fewer "
				 "folders or files", lines,
				 results->target_count);
	results->lines = calloc(lines + 1, sizeof(*results->lines));
	if (!results->lines)
		return error_memory(err, "lines");
	for (number = 0; number < maker->setup_count; number++) {
		struct setup *setup = &maker->setups[number];

		setup->line = results->line_count;
		for (repetition = 1; setup->repetitions > 1 &&
				     repetition <= setup->repetitions;
		     repetition++)
			if (add_line(results, setup, number, repetition, err))
				return -1;
		if (add_line(results, setup, number, 0, err))
			return -1;
	}
	return 0;
}

static int measure_runs(struct maker *maker, struct error *err)
{
	struct results *results = maker->results;
	const struct observation *const *rows;
	size_t i, count;

	for (i = 0; i < results->run_count; i++) {
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

/* A rate over that of one core, where both are known. */
static void set_speedup(struct result *cell, enum metric speedup,
			enum metric rate, double base)
{
	cell->values[speedup] = stats_single(cell->values[rate].mean / base);
	cell->observations[speedup] = cell->observations[rate];
}

static void compare_cell(struct result *cell, const struct result *base)
{
	set_speedup(cell, METRIC_SPEEDUP, METRIC_RATE,
		    base->values[METRIC_RATE].mean);
	set_speedup(cell, METRIC_MODEL_SPEEDUP, METRIC_MODEL_RATE,
		    base->values[METRIC_MODEL_RATE].mean);
	cell->observations[METRIC_EFFICIENCY] = cell->observations[METRIC_RATE];
	/* A device's units are no cores that could be counted. */
	if (!run_is_on_devices(cell->run) &&
	    (cell->run->cores > 1 || run_is_one_core(cell->run)))
		cell->values[METRIC_EFFICIENCY] =
			stats_single(cell->values[METRIC_SPEEDUP].mean /
				     (double)cell->run->cores);
}

const struct result *line_base(const struct results *results,
			       const struct line *line)
{
	const struct result *base = NULL, *cell;

	for (int i = 0; i < results->target_count; i++) {
		cell = &line->cells[i];
		if (cell->run && cell->outcome == OUTCOME_OK &&
		    run_is_one_core(cell->run) &&
		    (!base || !base->values[METRIC_RATE].count ||
		     !strcmp(cell->run->target, "cpu-1")))
			base = cell;
	}
	return base;
}

const struct result *line_first_rate(const struct results *results,
				     const struct line *line)
{
	for (int t = 0; t < results->target_count; t++)
		if (line->cells[t].values[METRIC_RATE].count)
			return &line->cells[t];
	return NULL;
}

/* Speed-up and efficiency need a one-core target of the line. */
static void compare_line(struct results *results, struct line *line)
{
	const struct result *found = line_base(results, line);
	struct result base, *cell;

	result_clear(&base);
	if (found)
		base = *found;
	for (int i = 0; i < results->target_count; i++) {
		cell = &line->cells[i];
		if (cell->run && cell->outcome == OUTCOME_OK)
			compare_cell(cell, &base);
	}
}

/* One metric of a target over the repetitions that were finished. values has
 * room for all. */
static void pool_metric(const struct line *line, int target, enum metric metric,
			double *values)
{
	struct result *pooled = &line->cells[target];
	const struct result *cell;
	const struct line *runs;
	size_t count = 0;
	int i, run_count;

	runs = line_runs(line, &run_count);
	for (i = 0; i < run_count; i++) {
		cell = &runs[i].cells[target];
		if (cell->outcome != OUTCOME_OK || !cell->values[metric].count)
			continue;
		values[count++] = cell->values[metric].mean;
		pooled->observations[metric] += cell->observations[metric];
	}
	pooled->values[metric] = stats_compute(values, count);
}

static void pool_target(const struct line *line, int target, double *values)
{
	struct result *pooled = &line->cells[target];
	const struct result *cell;
	const struct line *runs;
	double whole_s = 0;
	int i, run_count;

	runs = line_runs(line, &run_count);
	for (i = 0; i < run_count; i++) {
		cell = &runs[i].cells[target];
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
	for (i = 0; i < METRIC_COUNT; i++)
		pool_metric(line, target, (enum metric)i, values);
}

static int pool_lines(struct results *results, struct error *err)
{
	double *values = malloc((results->run_count + 1) * sizeof(*values));
	int i, target;

	if (!values)
		return error_memory(err, "lines");
	for (i = 0; i < results->line_count; i++)
		if (!results->lines[i].repetition &&
		    results->lines[i].repetitions > 1)
			for (target = 0; target < results->target_count;
			     target++)
				pool_target(&results->lines[i], target, values);
	free(values);
	return 0;
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

/* Of the runs that tried; times has room for all runs of the line. */
static int collect_times(const struct line *line, int target, double *times)
{
	const struct line *runs;
	int i, run_count, count = 0;

	runs = line_runs(line, &run_count);
	for (i = 0; i < run_count; i++)
		if (result_has_tried(&runs[i].cells[target]))
			times[count++] = cell_time(&runs[i].cells[target]);
	return count;
}

/* The means of those that reached it alone would be too good: what failed is
 * in none of them, but is in the score. */
static void drop_survivors(struct result *cell, int tried)
{
	struct stats *time = &cell->values[METRIC_TIME_TO_ACCURACY];
	struct stats *epochs = &cell->values[METRIC_EPOCHS_TO_ACCURACY];

	if (time->count < (size_t)tried)
		*time = *epochs = stats_compute(NULL, 0);
}

static void score_target(const struct line *line, int target, int has_target,
			 double *times)
{
	struct result *cell = &line->cells[target];
	const int tried = collect_times(line, target, times);

	drop_survivors(cell, tried);
	if (!tried || !has_target)
		return;
	cell->score = accuracy_score_of(times, tried);
	set_value(cell, METRIC_REACHED, cell->score.reached);
	set_value(cell, METRIC_SCORE, cell->score.mean);
}

double line_target_accuracy(const struct results *results,
			    const struct line *line)
{
	const struct line *runs;
	const struct run *run;
	int i, target, count;

	runs = line_runs(line, &count);
	for (i = 0; i < count; i++)
		for (target = 0; target < results->target_count; target++) {
			run = runs[i].cells[target].run;
			/* One that failed early may not know it. */
			if (run && isfinite(run->target_accuracy_pct))
				return run->target_accuracy_pct;
		}
	return NAN;
}

static int set_scores(struct results *results, struct error *err)
{
	double *times = malloc((results->run_count + 1) * sizeof(*times));
	struct line *line;
	int i, target, has_target;

	if (!times)
		return error_memory(err, "scores");
	for (i = 0; i < results->line_count; i++) {
		line = &results->lines[i];
		if (line->repetition)
			continue;
		has_target = isfinite(line_target_accuracy(results, line));
		for (target = 0; target < results->target_count; target++)
			score_target(line, target, has_target, times);
	}
	free(times);
	return 0;
}

int results_build(struct results *results, const struct campaign *campaign,
		  enum results_kind kind, int include_warmup,
		  struct error *err)
{
	struct maker maker = { .results = results };
	int line, failed;

	*results = (struct results){ .include_warmup = include_warmup };
	failed = make_results(&maker, campaign, kind, err);
	rows_by_run_free(&maker.rows);
	free(maker.places);
	free(maker.setups);
	for (line = 0; line < results->line_count && !failed; line++)
		if (results->lines[line].repetition ||
		    results->lines[line].repetitions == 1)
			compare_line(results, &results->lines[line]);
	if (!failed)
		failed = pool_lines(results, err) ||
			 set_scores(results, err);
	if (failed)
		results_free(results);
	return failed;
}

int results_have_times(const struct results *results)
{
	for (int line = 0; line < results->line_count; line++)
		for (int target = 0; target < results->target_count; target++) {
			const struct stats *values =
				results->lines[line].cells[target].values;

			if (values[METRIC_LOOP].count ||
			    values[METRIC_ITER].count ||
			    values[METRIC_EPOCH].count)
				return 1;
		}
	return 0;
}

void results_free(struct results *results)
{
	int i;

	for (i = 0; i < results->line_count; i++)
		free(results->lines[i].cells);
	free(results->lines);
	free(results->targets);
	free(results->runs);
	*results = (struct results){ 0 };
}
