#include "bench/record/result_rows.h"

#include <stdlib.h>
#include <string.h>

#include "bench/record/csv.h"

#define ROW struct summary
static const struct column summary_columns[] = {
	SUMMARY_COLUMNS(TEXT_COLUMN, INT_COLUMN, REAL_COLUMN)
};
const struct row_kind summary_rows = ROW_KIND("bench/1", summary_columns);
#undef ROW

#define ROW struct export_row
static const struct column export_columns[] = {
	EXPORT_COLUMNS(TEXT_COLUMN, INT_COLUMN, REAL_COLUMN)
};
const struct row_kind export_rows = ROW_KIND("bench/1", export_columns);

static const char *spread_of(const struct line *line, enum metric metric)
{
	if (line->repetitions > 1 && !line->repetition)
		return "runs";
	if (metric == METRIC_ITER)
		return "iterations";
	return metric == METRIC_EPOCH ? "epochs" : "";
}

static void set_numbers(struct summary *row, const struct stats *stats,
			const char *spread)
{
	double half = stats_half_width(stats);

	row->mean = stats->mean;
	/* One number has no spread; a 0 there would claim one. */
	if (stats->count < 2)
		return;
	snprintf(row->spread, sizeof(row->spread), "%s", spread);
	row->std = stats->std;
	row->median = stats->median;
	row->q1 = stats->q1;
	row->q3 = stats->q3;
	row->min = stats->min;
	row->max = stats->max;
	if (strcmp(spread, "runs") == 0) {
		row->ci95_lo = stats->mean - half;
		row->ci95_hi = stats->mean + half;
	}
}

/* The row has the description of the cell's run already. */
static void set_metric(struct summary *row, const struct results *results,
		       const struct result *cell, enum metric metric)
{
	const struct line *line = cell->line;
	const struct metric_kind *kind = &metric_kinds[metric];
	int one_run = line->repetition || line->repetitions == 1;

	snprintf(row->metric, sizeof(row->metric), "%s", kind->name);
	snprintf(row->unit, sizeof(row->unit), "%s", kind->unit);
	row->n_runs = one_run ? 1 : (long)cell->values[metric].count;
	if (metric == METRIC_REACHED || metric == METRIC_SCORE)
		row->n_runs = cell->score.runs;
	row->n_obs = (long)cell->observations[metric];
	if (metric == METRIC_ITER || metric == METRIC_P50 ||
	    metric == METRIC_P99)
		row->n_warmup_excluded = results->include_warmup ?
						 0 : (long)cell->warmup_steps;
	set_numbers(row, &cell->values[metric], spread_of(line, metric));
	if (metric == METRIC_ITER)
		row->first_iter_s = cell->first_iter_s;
}

/* Appends a row per metric of the cell, after the first *count. */
static void add_rows(struct summary *rows, size_t *count,
		     const struct results *results, const struct result *cell)
{
	struct summary description;

	row_clear(&summary_rows, &description);
	row_describe(&summary_rows, &description, &run_rows, cell->run);
	if (line_is_setup(cell->line))
		description.run_id[0] = '\0';
	for (int metric = 0; metric < METRIC_COUNT; metric++) {
		if (!cell->values[metric].count)
			continue;
		rows[*count] = description;
		set_metric(&rows[(*count)++], results, cell,
			   (enum metric)metric);
	}
}

int summary_build(const struct results *results, struct summary **rows,
		  size_t *count, struct error *err)
{
	const size_t most = (size_t)results->line_count *
			    (size_t)results->target_count * METRIC_COUNT;
	const struct result *cell;

	*count = 0;
	*rows = malloc((most + 1) * sizeof(**rows));
	if (!*rows)
		return error_memory(err, "the summary");
	for (int at = 0; (cell = next_cell(results, &at));)
		if (cell->run)
			add_rows(*rows, count, results, cell);
	return 0;
}

int summary_write(const struct campaign *campaign, int include_warmup,
		  FILE *out, struct error *err)
{
	struct results results;
	struct summary *rows = NULL;
	size_t count = 0, i;
	int rc;

	if (results_build(&results, campaign, RESULTS_ALL, include_warmup,
			  err))
		return -1;
	rc = summary_build(&results, &rows, &count, err);
	if (!rc)
		csv_write_header(out, &summary_rows);
	for (i = 0; !rc && i < count; i++)
		csv_write_row(out, &summary_rows, &rows[i]);
	free(rows);
	results_free(&results);
	return rc;
}

static double deviation(const struct stats *stats)
{
	return stats->count > 1 ? stats->std : CELL_NO_REAL;
}

/* The member of struct stats at offset: a run's own, or the mean of several
 * runs' own. */
static double within_runs(const struct result *cell, enum metric metric,
			  size_t offset)
{
	const struct result *run;
	double sum = 0;
	int found = 0;

	for (int at = 0; (run = next_repetition(cell, &at));) {
		const struct stats *stats = &run->values[metric];

		if (run->outcome != cell->outcome || stats->count < 2)
			continue;
		sum += *(const double *)((const char *)stats + offset);
		found++;
	}
	return found ? sum / found : CELL_NO_REAL;
}

/* The means of the metrics that have a column of their name. */
static void set_means(struct export_row *row, const struct result *cell)
{
	for (int metric = 0; metric < METRIC_COUNT; metric++) {
		const struct column *column =
			row_column(&export_rows, metric_kinds[metric].name);

		if (column && column->kind == CELL_REAL)
			cell_set_real(column, row, cell->values[metric].mean);
	}
}

static void set_spreads(struct export_row *row, const struct result *cell)
{
	const double half = stats_half_width(&cell->values[METRIC_SPEEDUP]);

	row->loop_std_s = deviation(&cell->values[METRIC_LOOP]);
#define WITHIN(metric, member)                                                 \
	within_runs(cell, metric, offsetof(struct stats, member))
	row->iter_std_s = WITHIN(METRIC_ITER, std);
	row->iter_q1_s = WITHIN(METRIC_ITER, q1);
	row->iter_q3_s = WITHIN(METRIC_ITER, q3);
	row->epoch_std_s = WITHIN(METRIC_EPOCH, std);
#undef WITHIN
	if (cell->line->repetitions < 2)
		return;
	row->iter_runs_std_s = deviation(&cell->values[METRIC_ITER]);
	row->epoch_runs_std_s = deviation(&cell->values[METRIC_EPOCH]);
	row->speedup_lo = row->speedup - half;
	row->speedup_hi = row->speedup + half;
}

void export_row_set(struct export_row *row, const struct result *cell)
{
	row_clear(&export_rows, row);
	row_describe(&export_rows, row, &run_rows, cell->run);
	set_means(row, cell);
	row->n_runs = cell->runs;
	row->time_to_accuracy_median_s =
		cell->values[METRIC_TIME_TO_ACCURACY].median;
	if (cell->score.runs) {
		row->target_accuracy_pct = cell->run->target_accuracy_pct;
		row->time_to_accuracy_median_s = cell->score.median;
		row->n_reached = cell->score.reached;
	}
	if (!cell->runs)
		return;
	set_spreads(row, cell);
	row->n_iterations = (long)cell->observations[METRIC_ITER];
	row->n_epochs = (long)cell->observations[METRIC_EPOCH];
	row->warmup_steps = (long)cell->warmup_steps;
}
