#include "bench/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct run *find_run(const struct results *results,
				  const char *run_id)
{
	size_t i;

	for (i = 0; i < results->run_count; i++)
		if (strcmp(results->runs[i].run_id, run_id) == 0)
			return &results->runs[i];
	return NULL;
}

/* The campaign whose number in it is the end of the name of a run. */
static void find_campaign(struct run *run, const struct campaign *campaign)
{
	const char *end = strrchr(run->run_id, '-');
	const size_t length = end ? (size_t)(end - run->run_id) : 0;
	size_t i;

	for (i = 0; i < campaign->run_count; i++) {
		const struct run *other = &campaign->runs[i];

		if (strlen(other->campaign_id) != length ||
		    memcmp(other->campaign_id, run->run_id, length) != 0)
			continue;
		memcpy(run->campaign_id, other->campaign_id,
		       sizeof(run->campaign_id));
		memcpy(run->label, other->label, sizeof(run->label));
		return;
	}
}

/* What the rows of a process say about it that left no row in runs.csv. */
static void run_from_rows(struct run *run, const struct campaign *campaign,
			  size_t first)
{
	const struct observation *row = &campaign->observations[first];
	const char *run_id = row->run_id, *status = "partial";
	const char *reason = "its rows end before the loop did";
	size_t i;

	run_rows.clear(run);
	snprintf(run->run_id, sizeof(run->run_id), "%s", run_id);
	snprintf(run->target, sizeof(run->target), "%s", row->target);
	run->cores = row->cores;
	find_campaign(run, campaign);
	for (i = first; i < campaign->observation_count; i++) {
		row = &campaign->observations[i];
		if (strcmp(row->run_id, run_id) != 0)
			continue;
		if (strcmp(row->status, "ok") != 0) {
			status = row->status;
			reason = row->reason;
			break;
		}
		if (strcmp(row->phase, "loop") == 0) { /* on either clock */
			status = "ok";
			reason = "";
		}
	}
	snprintf(run->status, sizeof(run->status), "%s", status);
	snprintf(run->reason, sizeof(run->reason), "%s", reason);
}

static int gather_runs(struct results *results, const struct campaign *campaign,
		       struct error *err)
{
	const struct observation *rows = campaign->observations;
	const char *last = "";
	struct run *more;
	size_t i, room = campaign->run_count + 1;

	results->runs = malloc(room * sizeof(*results->runs));
	if (!results->runs)
		return error_memory(err, "runs");
	if (campaign->run_count)
		memcpy(results->runs, campaign->runs,
		       campaign->run_count * sizeof(*results->runs));
	results->run_count = campaign->run_count;
	for (i = 0; i < campaign->observation_count; i++) {
		if (strcmp(rows[i].run_id, last) == 0 ||
		    find_run(results, rows[i].run_id))
			continue;
		last = rows[i].run_id;
		if (results->run_count == room) {
			room *= 2;
			more = realloc(results->runs, room * sizeof(*more));
			if (!more)
				return error_memory(err, "runs");
			results->runs = more;
		}
		run_from_rows(&results->runs[results->run_count++], campaign,
			      i);
	}
	return 0;
}

static int find_target(const struct results *results, const char *target)
{
	int i;

	for (i = 0; i < results->target_count; i++)
		if (strcmp(results->targets[i], target) == 0)
			return i;
	return -1;
}

static int gather_targets(struct results *results, struct error *err)
{
	size_t i;

	results->targets = malloc((results->run_count + 1) *
				  sizeof(*results->targets));
	if (!results->targets)
		return error_memory(err, "targets");
	for (i = 0; i < results->run_count; i++)
		if (find_target(results, results->runs[i].target) < 0)
			results->targets[results->target_count++] =
				results->runs[i].target;
	return 0;
}

static int same_setup(const struct run *left, const struct run *right)
{
	return strcmp(left->campaign_id, right->campaign_id) == 0;
}

/* Which repetition of its target in its setup a run is, from 1. */
static int repetition_of(const struct results *results, size_t at)
{
	const struct run *run = &results->runs[at];
	int repetition = 1;
	size_t i;

	for (i = 0; i < at; i++)
		if (same_setup(&results->runs[i], run) &&
		    strcmp(results->runs[i].target, run->target) == 0)
			repetition++;
	return repetition;
}

static int add_line(struct results *results, const struct run *run, int setup,
		    int repetition, int repetitions, struct error *err)
{
	size_t cells = (size_t)results->target_count;
	struct line *line = &results->lines[results->line_count];
	size_t i;

	line->cells = malloc((cells + 1) * sizeof(*line->cells));
	if (!line->cells)
		return error_memory(err, "lines");
	for (i = 0; i < cells; i++)
		result_clear(&line->cells[i]);
	line->run = run;
	line->setup = setup;
	line->repetition = repetition;
	line->repetitions = repetitions;
	results->line_count++;
	return 0;
}

/* A line for each repetition and one for the setup, which is the only one
 * where nothing was repeated. */
static int add_setup(struct results *results, size_t first, int setup,
		     struct error *err)
{
	const struct run *run = &results->runs[first];
	int repetition, repetitions = 0;
	size_t i;

	for (i = first; i < results->run_count; i++) {
		if (!same_setup(&results->runs[i], run))
			continue;
		repetition = repetition_of(results, i);
		if (repetition > repetitions)
			repetitions = repetition;
	}
	for (repetition = 1; repetitions > 1 && repetition <= repetitions;
	     repetition++)
		if (add_line(results, run, setup, repetition, repetitions, err))
			return -1;
	return add_line(results, run, setup, 0, repetitions, err);
}

static int make_lines(struct results *results, struct error *err)
{
	size_t i, before;
	int setups = 0;

	/* At most a line a run and one a setup. */
	results->lines = calloc(2 * results->run_count + 1,
				sizeof(*results->lines));
	if (!results->lines)
		return error_memory(err, "lines");
	for (i = 0; i < results->run_count; i++) {
		for (before = 0; before < i; before++)
			if (same_setup(&results->runs[before],
				       &results->runs[i]))
				break;
		if (before == i && add_setup(results, i, setups++, err))
			return -1;
	}
	return 0;
}

static struct result *cell_of(struct results *results, size_t at)
{
	const struct run *run = &results->runs[at];
	int target = find_target(results, run->target);
	int repetition = repetition_of(results, at), i;
	struct line *line;

	for (i = 0; i < results->line_count; i++) {
		line = &results->lines[i];
		if (same_setup(line->run, run) &&
		    (line->repetitions == 1 || line->repetition == repetition))
			break;
	}
	return &results->lines[i].cells[target];
}

/* Speed-up and efficiency need a one-core target of the line: cpu-1, or the
 * first. */
static void compare_line(struct results *results, struct line *line)
{
	double base = NAN, ratio;
	struct result *cell;
	int i;

	for (i = 0; i < results->target_count; i++) {
		cell = &line->cells[i];
		if (cell->run && cell->outcome == OUTCOME_OK &&
		    run_is_one_core(cell->run) &&
		    (isnan(base) || !strcmp(cell->run->target, "cpu-1")))
			base = cell->values[METRIC_RATE].mean;
	}
	for (i = 0; i < results->target_count; i++) {
		cell = &line->cells[i];
		if (!cell->run || cell->outcome != OUTCOME_OK)
			continue;
		ratio = cell->values[METRIC_RATE].mean / base;
		cell->values[METRIC_SPEEDUP] = stats_single(ratio);
		/* A device's units are no cores that could be counted. */
		if (cell->run->cores > 1 || run_is_one_core(cell->run))
			cell->values[METRIC_EFFICIENCY] = stats_single(
				ratio / (double)cell->run->cores);
		cell->observations[METRIC_SPEEDUP] =
			cell->observations[METRIC_RATE];
		cell->observations[METRIC_EFFICIENCY] =
			cell->observations[METRIC_RATE];
	}
}

/* One metric of a target over the repetitions that were finished. values has
 * room for all. */
static void pool_metric(const struct results *results, const struct line *line,
			int target, enum metric metric, double *values)
{
	struct result *pooled = &line->cells[target];
	const struct result *cell;
	size_t count = 0;
	int i;

	for (i = 0; i < results->line_count; i++) {
		cell = &results->lines[i].cells[target];
		if (results->lines[i].setup != line->setup ||
		    !results->lines[i].repetition ||
		    cell->outcome != OUTCOME_OK || !cell->values[metric].count)
			continue;
		values[count++] = cell->values[metric].mean;
		pooled->observations[metric] += cell->observations[metric];
	}
	pooled->values[metric] = stats_compute(values, count);
}

static void pool_target(const struct results *results, const struct line *line,
			int target, double *values)
{
	struct result *pooled = &line->cells[target];
	const struct result *cell;
	int i;

	for (i = 0; i < results->line_count; i++) {
		cell = &results->lines[i].cells[target];
		if (results->lines[i].setup != line->setup ||
		    !results->lines[i].repetition || !cell->run)
			continue;
		if (cell->outcome == OUTCOME_OK) {
			pooled->runs++;
			pooled->warmup_steps += cell->warmup_steps;
		}
		if (pooled->run && (pooled->outcome == OUTCOME_OK ||
				    cell->outcome != OUTCOME_OK))
			continue;
		pooled->run = cell->run;
		pooled->outcome = cell->outcome;
		pooled->reason = cell->reason;
	}
	for (i = 0; i < METRIC_COUNT; i++)
		pool_metric(results, line, target, (enum metric)i, values);
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
				pool_target(results, &results->lines[i], target,
					    values);
	free(values);
	return 0;
}

int results_build(struct results *results, const struct campaign *campaign,
		  int include_warmup, struct error *err)
{
	int line;
	size_t i;

	*results = (struct results){ .include_warmup = include_warmup };
	if (gather_runs(results, campaign, err) ||
	    gather_targets(results, err) || make_lines(results, err))
		goto fail;
	for (i = 0; i < results->run_count; i++)
		if (result_measure(cell_of(results, i), &results->runs[i],
				   campaign, include_warmup, err))
			goto fail;
	for (line = 0; line < results->line_count; line++)
		if (results->lines[line].repetition ||
		    results->lines[line].repetitions == 1)
			compare_line(results, &results->lines[line]);
	if (pool_lines(results, err))
		goto fail;
	return 0;
fail:
	results_free(results);
	return -1;
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
