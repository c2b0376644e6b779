/* A row a target of forward passes alone: how long they take, how many images
 * that is, and the lift over the first target. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/show/table_view.h"
#include "bench/system/number.h"

enum { FIRST, P50, P90, P95, P99, RATE, LIFT, SETUP, CPUS, HEADS };

static const enum metric percentiles[] = { METRIC_P50, METRIC_P90, METRIC_P95,
					   METRIC_P99 };

/* What post 004 published, in ms; no start-up is known. */
static const struct {
	const char *label;
	double percentiles[4]; /* its p95 is called p90 in the text */
} post[] = {
	{ "post: Tesla K80", { 213.52, 214.34, NAN, 214.56 } },
	{ "post: 1/8 TPU v2-8", { 53.25, 54.11, NAN, 61.81 } },
};

#define POSTS ((int)(sizeof(post) / sizeof(post[0])))

int line_is_inference(const struct line *line)
{
	return run_is_inference(line->run);
}

static int compares_with_post(const struct run *run)
{
	return run && !strcmp(run->model, "resnet50") && run->batch == 32 &&
	       (run->image_size == CELL_NO_INT || run->image_size == 224);
}

static void fill_cell(const struct grid *grid, int row,
		      const struct result *cell, double first_s,
		      const struct table_options *options)
{
	const struct stats *values = cell->values;
	char label[GRID_TEXT];

	snprintf(label, sizeof(label), "%s%s", cell->run->target,
		 cell->outcome == OUTCOME_PARTIAL ? ", partial" : "");
	clean_text(grid->labels[row], GRID_TEXT, label, options);
	grid_set_number(grid, row, FIRST, 1e3 * cell->first_iter_s,
			decimals_of(1e3 * cell->first_iter_s, 2));
	for (int p = 0; p < 4; p++) {
		const double ms = 1e3 * values[percentiles[p]].mean;

		grid_set_number(grid, row, P50 + p, ms, decimals_of(ms, 2));
	}
	grid_set_number(grid, row, RATE, values[METRIC_RATE].mean, 1);
	grid_set_number(grid, row, LIFT, first_s / values[METRIC_P50].mean, 2);
	if (values[METRIC_SETUP].count)
		snprintf(grid_at(grid, row, SETUP)->text, GRID_TEXT, "%s s",
			 fixed_text(values[METRIC_SETUP].mean, 2).text);
	if (cell->outcome == OUTCOME_ERROR || cell->outcome == OUTCOME_SKIPPED)
		snprintf(grid_at(grid, row, FIRST)->text, GRID_TEXT, "%s",
			 cell->outcome == OUTCOME_ERROR ? "failed" : "skipped");
	grid_set_count(grid, row, CPUS, cell->run->cpus);
}

static void fill_post(const struct grid *grid, int row, int which,
		      double first_s)
{
	const double *ms = post[which].percentiles;

	snprintf(grid->labels[row], GRID_TEXT, "%s", post[which].label);
	for (int p = 0; p < 4; p++)
		grid_set_number(grid, row, P50 + p, ms[p], 2);
	grid_set_number(grid, row, RATE, 32 * 1e3 / ms[0], 1);
	grid_set_number(grid, row, LIFT, 1e3 * first_s / ms[0], 2);
}

static void fill_title(const struct view *view, const struct line *line,
		       char title[GRID_TITLE])
{
	const struct run *run = find_settings(view->results, line);
	const int named = setup_count(view->results) > 1 ||
			  line->run->label[0];
	char raw[GRID_TITLE], what[160] = "no runs.csv";

	if (run)
		snprintf(what, sizeof(what), "%s on %s, %ld forward passes of "
			 "%ld%s", run->model,
			 run->dataset[0] ? run->dataset : "unknown data",
			 run->passes, run->global_batch,
			 unusual_text(run).text);
	snprintf(raw, sizeof(raw), "%s%s%s; n=%d",
		 named ? setup_name(line) : "", named ? ": " : "", what,
		 line->repetitions);
	clean_text(title, GRID_TITLE, raw, view->options);
}

/* The median of the first target that has one. */
static double first_median(const struct view *view, const struct line *line)
{
	for (int t = 0; t < view->results->target_count; t++)
		if (line->cells[t].values[METRIC_P50].count)
			return line->cells[t].values[METRIC_P50].mean;
	return NAN;
}

int view_inference(const struct view *view, const struct line *line,
		   struct error *err)
{
	static const char *const heads[HEADS] = {
		[FIRST] = "first\nms", [P50] = "p50\nms", [P90] = "p90\nms",
		[P95] = "p95\nms",     [P99] = "p99\nms", [RATE] = "images/s",
		[LIFT] = "lift",       [SETUP] = "start-up", [CPUS] = "CPUs",
	};
	const int posts = compares_with_post(find_settings(view->results,
							   line)) ? POSTS : 0;
	const double first_s = first_median(view, line);
	struct grid grid;
	int row = 0;

	if (grid_make(&grid, HEADS, view->results->target_count + posts, err))
		return -1;
	grid.unmarked = 1;
	fill_title(view, line, grid.title);
	snprintf(grid.corner, GRID_TITLE, "target");
	grid_set_heads(&grid, heads);
	for (int t = 0; t < view->results->target_count; t++)
		if (line->cells[t].run)
			fill_cell(&grid, row++, &line->cells[t], first_s,
				  view->options);
	for (int p = 0; p < posts; p++)
		fill_post(&grid, row++, p, first_s);
	grid.rows = row;
	grid_draw(&grid, view->options, view->out);
	grid_free(&grid);
	if (!view->options->quiet && posts)
		view_note(view, "post 004 is history, not a race: its timers "
			  "did not wait for the devices, and its 1/8 TPU is "
			  "one of eight cores");
	return 0;
}
