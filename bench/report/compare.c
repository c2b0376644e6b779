#include "bench/report/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/column.h"
#include "bench/statistics/rank_test.h"

DEFINE_ROWS(compare_rows, struct compare_row, COMPARE_COLUMNS);

static const struct compared_metric metrics[] = {
	{ METRIC_LOOP, "training loop", 0, 3 },
	{ METRIC_ITER, "iteration", 0, 3 },
	{ METRIC_EPOCH, "epoch", 0, 3 },
	{ METRIC_RATE, "images/s", 1, 1 },
	{ METRIC_SETUP, "start-up", 0, 3 },
	{ METRIC_TIME_TO_ACCURACY, "time to accuracy", 0, 3 },
	{ METRIC_ACCURACY, "test accuracy (%)", 1, 2 },
	{ METRIC_MAXRSS, "peak memory (MB)", 1e-6, 1 },
};

enum { METRICS = sizeof(metrics) / sizeof(metrics[0]) };

int results_find_target(const struct results *results, const char *target)
{
	for (int i = 0; i < results->target_count; i++)
		if (strcmp(results->targets[i], target) == 0)
			return i;
	return -1;
}

/* The runs of a target, however they ended. */
static const struct result *next_tried(const struct results *results,
				       int target, int *next)
{
	while (*next < results->line_count) {
		const struct line *line = &results->lines[(*next)++];

		/* The line of a whole setup is made of others. */
		if (line->repetition || line->repetitions <= 1)
			return &line->cells[target];
	}
	return NULL;
}

const struct result *compare_next_run(const struct results *results, int target,
				      int *next)
{
	const struct result *cell;

	while ((cell = next_tried(results, target, next)))
		if (cell->outcome == OUTCOME_OK)
			return cell;
	return NULL;
}

int compare_has_runs(const struct results *results, const char *target)
{
	const int at = results_find_target(results, target);
	int next = 0;

	return at >= 0 && compare_next_run(results, at, &next) != NULL;
}

/* The values of one side, with room for one of each of its runs. */
struct sample {
	double *values;
	size_t count;
	size_t tried; /* runs that went for the accuracy, reached or not */
	double median;
	double accuracy_pct; /* that its times are to; NAN: several */
	size_t finished, ahead; /* runs; runs with --sync epoch */
};

static int sample_make(struct sample *sample, const struct results *results,
		       int target, enum metric metric, struct error *err)
{
	const struct result *cell;
	double accuracy;
	int next = 0;

	*sample = (struct sample){ .median = NAN };
	sample->values = malloc((results->run_count + 1) *
				sizeof(*sample->values));
	if (!sample->values)
		return error_memory(err, "a comparison");
	while ((cell = next_tried(results, target, &next))) {
		sample->tried += (size_t)result_has_tried(cell);
		if (cell->outcome != OUTCOME_OK)
			continue;
		accuracy = run_target_accuracy(cell->run);
		sample->ahead += (size_t)run_is_ahead(cell->run);
		if (!sample->finished++)
			sample->accuracy_pct = accuracy;
		else if (accuracy != sample->accuracy_pct)
			sample->accuracy_pct = NAN;
		if (cell->values[metric].count)
			sample->values[sample->count++] =
				cell->values[metric].mean;
	}
	if (sample->count)
		sample->median =
			stats_compute(sample->values, sample->count).median;
	return 0;
}

/* Have all of both the mean of an epoch's iterations, which no single one
 * has? */
static int are_means(const struct sample *first, const struct sample *second)
{
	return first->ahead == first->finished &&
	       second->ahead == second->finished;
}

/* Why the two cannot be compared; NULL if they can. */
static const char *refuse(enum metric metric, const struct sample *first,
			  const struct sample *second)
{
	if (metric == METRIC_TIME_TO_ACCURACY &&
	    (first->count < first->tried || second->count < second->tried))
		return "not every run reached the accuracy";
	if (!first->count || !second->count)
		return "only one of the two has this metric";
	if (metric == METRIC_TIME_TO_ACCURACY &&
	    first->accuracy_pct != second->accuracy_pct)
		return "not to the same accuracy";
	if (metric == METRIC_ITER && first->ahead + second->ahead &&
	    !are_means(first, second))
		return "an epoch's mean (--sync epoch) against single "
		       "iterations";
	if (first->count > TWO_SAMPLE_MOST || second->count > TWO_SAMPLE_MOST)
		return "more than 100 runs";
	/* The values are sorted. */
	if (!(first->values[0] > 0) || !(second->values[0] > 0))
		return "not positive";
	return NULL;
}

static void replace_by_logs(struct sample *sample)
{
	for (size_t i = 0; i < sample->count; i++)
		sample->values[i] = log(sample->values[i]);
}

/* Ratios are shifts of logarithms. */
static int set_ratio(struct compare_row *row, struct sample *first,
		     struct sample *second, struct error *err)
{
	const double alpha = .025; /* of each end */
	struct rank_test test;

	replace_by_logs(first);
	replace_by_logs(second);
	if (rank_sum_make(&test, first->values, first->count, second->values,
			  second->count, err))
		return -1;
	row->ratio = exp(rank_test_estimate(&test));
	if (rank_test_index(&test, alpha)) {
		row->ratio_lo = exp(rank_test_lower(&test, alpha));
		row->ratio_hi = exp(rank_test_upper(&test, alpha));
	} else {
		snprintf(row->reason, sizeof(row->reason),
			 "too few runs for a 95 %% interval");
	}
	rank_test_release(&test);
	return 0;
}

/* Adds a row if a side has the metric. */
static int add_row(struct comparison *comparison,
		   const struct compared *target,
		   const struct compared_metric *kind, struct sample *first,
		   struct sample *second, struct error *err)
{
	struct compare_row *row = &comparison->rows[comparison->row_count];
	const char *reason;

	if (!first->count && !second->count)
		return 0;
	row_clear(&compare_rows, row);
	row->kind = kind;
	row->label = kind->metric == METRIC_ITER && are_means(first, second) ?
			     "iteration, epoch's mean" : kind->label;
	snprintf(row->first, sizeof(row->first), "%s", comparison->first_name);
	snprintf(row->second, sizeof(row->second), "%s",
		 comparison->second_name);
	snprintf(row->target, sizeof(row->target), "%s", target->name);
	snprintf(row->metric, sizeof(row->metric), "%s",
		 metric_kinds[kind->metric].name);
	snprintf(row->unit, sizeof(row->unit), "%s",
		 metric_kinds[kind->metric].unit);
	row->n_first = (long)first->count;
	row->n_second = (long)second->count;
	row->median_first = first->median;
	row->median_second = second->median;
	comparison->row_count++;
	compare_work_text(row->reason, comparison, target, kind->metric);
	row->unequal = row->reason[0] != '\0';
	if (row->unequal)
		return 0;
	reason = refuse(kind->metric, first, second);
	if (!reason)
		return set_ratio(row, first, second, err);
	snprintf(row->reason, sizeof(row->reason), "%s", reason);
	return 0;
}

static int add_target(struct comparison *comparison,
		      const struct compared *target, struct error *err)
{
	struct sample first, second = { 0 };
	int failed = 0;

	for (int i = 0; i < METRICS && !failed; i++) {
		failed = sample_make(&first, comparison->first, target->first,
				     metrics[i].metric, err) ||
			 sample_make(&second, comparison->second,
				     target->second, metrics[i].metric, err) ||
			 add_row(comparison, target, &metrics[i], &first,
				 &second, err);
		free(first.values);
		free(second.values);
		second.values = NULL;
	}
	return failed;
}

static int no_target(const struct comparison *comparison, struct error *err)
{
	const struct results *first = comparison->first;
	const struct results *second = comparison->second;
	char ours[200] = "", theirs[200] = "";

	for (int i = 0; i < first->target_count; i++)
		error_list(ours, sizeof(ours), first->targets[i]);
	for (int i = 0; i < second->target_count; i++)
		error_list(theirs, sizeof(theirs), second->targets[i]);
	return error_set(err, ERROR_INPUT, "no target has finished runs in "
			 "both: %.300s has %s, and %.300s has %s",
			 comparison->first_name, ours[0] ? ours : "none",
			 comparison->second_name, theirs[0] ? theirs : "none");
}

static int find_targets(struct comparison *comparison, struct error *err)
{
	const struct results *first = comparison->first;
	const struct results *second = comparison->second;

	if (first->target_count > COMPARE_MOST_TARGETS ||
	    second->target_count > COMPARE_MOST_TARGETS)
		return error_set(err, ERROR_INPUT, "a campaign of more than %d "
				 "targets cannot be compared",
				 COMPARE_MOST_TARGETS);
	comparison->targets = malloc(((size_t)first->target_count + 1) *
				     sizeof(*comparison->targets));
	if (!comparison->targets)
		return error_memory(err, "a comparison");
	for (int i = 0; i < first->target_count; i++) {
		const char *name = first->targets[i];
		const int other = results_find_target(second, name);

		if (compare_has_runs(first, name) &&
		    compare_has_runs(second, name))
			comparison->targets[comparison->target_count++] =
				(struct compared){ name, i, other };
	}
	return comparison->target_count ? 0 : no_target(comparison, err);
}

static int check_equal(const struct comparison *comparison, struct error *err)
{
	for (size_t i = 0; i < comparison->row_count; i++)
		if (!comparison->rows[i].unequal)
			return 0;
	return comparison->row_count ?
		error_set(err, ERROR_INPUT, "%.300s and %.300s cannot be "
			  "compared, because their work differs: %s",
			  comparison->first_name, comparison->second_name,
			  comparison->rows[0].reason) : 0;
}

int compare_build(struct comparison *comparison, const struct results *first,
		  const char *first_name, const struct results *second,
		  const char *second_name, struct error *err)
{
	int failed;

	*comparison = (struct comparison){ .first = first, .second = second,
					   .first_name = first_name,
					   .second_name = second_name };
	failed = find_targets(comparison, err);
	if (!failed)
		comparison->rows = malloc((size_t)comparison->target_count *
					  METRICS * sizeof(*comparison->rows));
	if (!failed && !comparison->rows)
		failed = error_memory(err, "a comparison");
	for (int i = 0; i < comparison->target_count && !failed; i++)
		failed = add_target(comparison, &comparison->targets[i], err);
	if (!failed)
		failed = check_equal(comparison, err) ||
			 compare_differences(comparison, err);
	if (failed)
		compare_free(comparison);
	return failed;
}

void compare_free(struct comparison *comparison)
{
	free(comparison->targets);
	free(comparison->rows);
	free(comparison->differences);
	*comparison = (struct comparison){ 0 };
}
