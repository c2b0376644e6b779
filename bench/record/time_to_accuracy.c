#include "bench/record/time_to_accuracy.h"

#include <math.h>
#include <stdlib.h>

#include "bench/record/result.h"

double run_target_accuracy(const struct run *run)
{
	return isfinite(run->target_accuracy_pct) ? run->target_accuracy_pct :
						    USUAL_ACCURACY_PCT;
}

static double known(double value)
{
	return isfinite(value) ? value : 0;
}

double time_untimed(const struct run *run)
{
	return run->setup_s - run->data_s + known(run->warmup_s);
}

double time_to_accuracy(const struct run *run, double loop_s)
{
	const double beyond_s = time_untimed(run) - UNTIMED_CAP_S;

	return known(run->data_s) + (beyond_s > 0 ? beyond_s : 0) + loop_s;
}

static double known_or_nan(double value)
{
	return isfinite(value) ? value : NAN;
}

struct accuracy_score accuracy_score_of(double *times, int count)
{
	struct accuracy_score score = { .runs = count,
					.trimmed = count >= SCORE_FEWEST,
					.mean = NAN, .median = NAN };
	const int first = score.trimmed, end = count - score.trimmed;
	double sum = 0;
	int i;

	if (!count)
		return score;
	stats_sort(times, (size_t)count);
	for (i = 0; i < count; i++)
		score.reached += isfinite(times[i]) != 0;
	for (i = first; i < end; i++)
		sum += times[i];
	score.mean = known_or_nan(sum / (end - first));
	score.median = known_or_nan(
		(times[(count - 1) / 2] + times[count / 2]) / 2);
	return score;
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

int results_score(struct results *results, struct error *err)
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
