#include "bench/record/summary_build.h"

#include <stdlib.h>
#include <string.h>

#include "bench/record/csv.h"

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

#define COPY(to, text) snprintf(to, sizeof(to), "%s", text)

static void set_description(struct summary *row, const struct line *line,
			    const struct run *run)
{
	COPY(row->campaign_id, line->run->campaign_id);
	COPY(row->label, line->run->label);
	COPY(row->target, run->target);
	COPY(row->algorithm, run->algorithm);
	COPY(row->precision, run->precision);
	COPY(row->device_class, run->device_class);
	COPY(row->resident, run->resident);
	COPY(row->sync, run->sync);
	row->cores = run->cores;
	row->batch = run->batch;
}

static void set_row(struct summary *row, const struct results *results,
		    const struct line *line, const struct result *cell,
		    enum metric metric)
{
	const struct metric_kind *kind = &metric_kinds[metric];
	int one_run = line->repetition || line->repetitions == 1;

	row_clear(&summary_rows, row);
	set_description(row, line, cell->run);
	COPY(row->metric, kind->name);
	COPY(row->unit, kind->unit);
	if (line->repetition)
		COPY(row->run_id, cell->run->run_id);
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

int summary_build(const struct results *results, struct summary **rows,
		  size_t *count, struct error *err)
{
	size_t most = (size_t)results->line_count *
		      (size_t)results->target_count * METRIC_COUNT;
	const struct result *cell;
	int line, target, metric;

	*count = 0;
	*rows = malloc((most + 1) * sizeof(**rows));
	if (!*rows)
		return error_memory(err, "the summary");
	for (line = 0; line < results->line_count; line++)
		for (target = 0; target < results->target_count; target++) {
			cell = &results->lines[line].cells[target];
			for (metric = 0; metric < METRIC_COUNT; metric++)
				if (cell->values[metric].count)
					set_row(&(*rows)[(*count)++], results,
						&results->lines[line], cell,
						(enum metric)metric);
		}
	return 0;
}

int summary_write(const struct campaign *campaign, int include_warmup,
		  FILE *out, struct error *err)
{
	struct results results;
	struct summary *rows = NULL;
	size_t count = 0, i;
	int rc;

	if (results_build(&results, campaign, include_warmup, err))
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
