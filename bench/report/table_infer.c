/* A row a target of forward passes alone: how long they take, how many images
 * that is, and the lift in images/s over the first target. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/report/table_view.h"
#include "bench/system/number.h"
#include "bench/system/text.h"

enum { BATCH, FIRST, P50, P90, P95, P99, RATE, LIFT, SETUP, CPUS, HEADS };

static const enum metric percentiles[] = { METRIC_P50, METRIC_P90, METRIC_P95,
					   METRIC_P99 };

int line_is_inference(const struct line *line)
{
	return run_is_inference(line->run);
}

/* What a post has of such forward passes; NULL: none. */
static const struct post_network *find_network(const struct run *run)
{
	const struct post_network *network = run ? post_network_of(run) : NULL;

	return network && network->batch == run->batch ? network : NULL;
}

/* Of a forward pass, of all cores; the test set may have fewer. */
static long images_of(const struct run *run)
{
	const int has_fewer = run->global_batch != CELL_NO_INT &&
			      run->test_samples != CELL_NO_INT &&
			      run->test_samples < run->global_batch;

	return has_fewer ? run->test_samples : run->global_batch;
}

static void fill_cell(const struct grid *grid, int row,
		      const struct line *line, const struct result *cell,
		      const struct result *first,
		      const struct table_options *options)
{
	const struct stats *values = cell->values;
	const struct stats lift = first ?
		stats_single(values[METRIC_RATE].mean /
			     first->values[METRIC_RATE].mean) :
		stats_compute(NULL, 0);
	char doubt[160] = "";

	grid_set_number(grid, row, FIRST, 1e3 * cell->first_iter_s,
			decimals_of(1e3 * cell->first_iter_s, 2));
	for (int p = 0; p < 4; p++) {
		const double ms = 1e3 * values[percentiles[p]].mean;

		grid_set_number(grid, row, P50 + p, ms, decimals_of(ms, 2));
	}
	grid_set_number(grid, row, RATE, values[METRIC_RATE].mean, 1);
	if (lift.count && cell != first)
		ratio_doubt_text(doubt, sizeof(doubt), line, cell, first,
				 &lift);
	if (!doubt[0])
		grid_set_number(grid, row, LIFT, lift.mean, 2);
	grid_set_count(grid, row, BATCH, images_of(cell->run));
	fill_target_row(grid, row, cell, FIRST, SETUP, options);
	grid_set_cpus(grid, row, CPUS, cell->run);
}

/* From row on; returns the row after them. */
static int fill_posts(const struct grid *grid, int row,
		      const struct post_network *network, double first_rate)
{
	const struct post_inference *each = network->inferences;

	for (; each->device; each++, row++) {
		const double rate = network->batch * 1e3 / each->percentiles[0];

		snprintf(grid->labels[row], GRID_TEXT, "post: %s",
			 each->device);
		for (int p = 0; p < 4; p++)
			grid_set_number(grid, row, P50 + p,
					each->percentiles[p], 2);
		grid_set_count(grid, row, BATCH, network->batch);
		grid_set_number(grid, row, RATE, rate, 1);
		grid_set_number(grid, row, LIFT, rate / first_rate, 2);
	}
	return row;
}

/* Those that were done: of a run that was interrupted not what was asked. */
static struct short_text passes_text(const struct view *view,
				     const struct line *line)
{
	struct range passes = { 0 };
	int count;
	const struct line *lines = line_runs(line, &count);

	for (int r = 0; r < count; r++)
		for (int t = 0; t < view->results->target_count; t++) {
			const struct result *cell = &lines[r].cells[t];

			if (cell->observations[METRIC_RATE])
				range_add(&passes, (long)cell->observations[
							   METRIC_RATE]);
		}
	return range_text(&passes, "forward pass");
}

static void fill_title(const struct view *view, const struct line *line,
		       char title[GRID_TITLE])
{
	const struct run *run = find_settings(view->results, line);
	const struct short_text passes = passes_text(view, line);
	const int named = setup_count(view->results) > 1 ||
			  line->run->label[0];
	char raw[GRID_TITLE], what[160] = "no runs.csv";

	if (run)
		snprintf(what, sizeof(what), "%s on %s%s%.40s%s", run->model,
			 run->dataset[0] ? run->dataset : "unknown data",
			 passes.text[0] ? ", " : "", passes.text,
			 unusual_text(run).text);
	snprintf(raw, sizeof(raw), "%s%s%s%s; n=%d",
		 named ? setup_name(line) : "", named ? ": " : "", what,
		 view->results->include_warmup ? ", warm-up included" : "",
		 line->repetitions);
	clean_text(title, GRID_TITLE, raw, view->options);
}

/* Those targets that computed fewer layers than others might. */
static void note_folded(const struct view *view, const struct line *line)
{
	char list[1024] = "";

	for (int t = 0; t < view->results->target_count; t++) {
		const struct run *run = line->cells[t].run;

		if (run && line->cells[t].outcome == OUTCOME_OK &&
		    !strcmp(run->algorithm, "fast") && !run->parameters_hash[0])
			text_append(list, sizeof(list), "%s%s", list[0] ?
				    ", " : "", run->target);
	}
	if (list[0])
		view_note(view, "batch norms are folded into the layers before "
			  "them on %s (--algorithm dense: nowhere)", list);
}

int view_inference(const struct view *view, const struct line *line,
		   struct error *err)
{
	static const char *const heads[HEADS] = {
		[BATCH] = "images",
		[FIRST] = "first\nms", [P50] = "p50\nms", [P90] = "p90\nms",
		[P95] = "p95\nms",     [P99] = "p99\nms", [RATE] = "images/s",
		[LIFT] = "lift",       [SETUP] = "start-up", [CPUS] = "CPUs",
	};
	const struct post_network *network =
		find_network(find_settings(view->results, line));
	const int most = network ? (int)(sizeof(network->inferences) /
					 sizeof(network->inferences[0])) : 0;
	const struct result *first = line_first_rate(view->results, line);
	struct grid grid;
	int row = 0;

	if (grid_make(&grid, HEADS, view->results->target_count + most, err))
		return -1;
	grid.unmarked = 1;
	fill_title(view, line, grid.title);
	snprintf(grid.corner, GRID_TITLE, "target");
	grid_set_heads(&grid, heads);
	for (int t = 0; t < view->results->target_count; t++)
		if (line->cells[t].run)
			fill_cell(&grid, row++, line, &line->cells[t], first,
				  view->options);
	if (network)
		row = fill_posts(&grid, row, network, first ?
				 first->values[METRIC_RATE].mean : NAN);
	grid.rows = row;
	grid_draw(&grid, view->options, view->out);
	grid_free(&grid);
	if (view->options->quiet)
		return 0;
	view_note(view, "first: the very first pass, warm-up included; lift: "
		  "images/s over those of the first target, - if a run was "
		  "disturbed or the CPUs are too few for it");
	note_p99(view, line);
	note_folded(view, line);
	if (network)
		view_note(view, "%s", network->inference_note);
	return 0;
}
