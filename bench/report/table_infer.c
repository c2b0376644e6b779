/* Prints a table of forward passes with a row per target: their time, images/s,
 * and the lift in images/s over the first target. */
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

/* Returns the post with forward passes of the run's batch size, or NULL. */
static const struct post_network *find_network(const struct run *run)
{
	const struct post_network *network = run ? post_network_of(run) : NULL;

	return network && network->batch == run->batch ? network : NULL;
}

/* Returns the images of a forward pass of all cores; the test set may have
 * fewer. */
static long images_of(const struct run *run)
{
	const int has_fewer = run->global_batch != CELL_NO_INT &&
			      run->test_samples != CELL_NO_INT &&
			      run->test_samples < run->global_batch;

	return has_fewer ? run->test_samples : run->global_batch;
}

static void fill_cell(struct grid *grid, const struct result *cell,
		      const struct result *first,
		      const struct table_options *options)
{
	const struct stats *values = cell->values;
	const struct stats lift = first ?
		stats_single(values[METRIC_RATE].mean /
			     first->values[METRIC_RATE].mean) :
		stats_compute(NULL, 0);
	const int row = grid->rows;

	grid_set_number(grid, row, FIRST, 1e3 * cell->first_iter_s,
			decimals_of(1e3 * cell->first_iter_s, 2));
	for (int p = 0; p < 4; p++) {
		const double ms = 1e3 * values[percentiles[p]].mean;

		grid_set_number(grid, row, P50 + p, ms, decimals_of(ms, 2));
	}
	grid_set_number(grid, row, RATE, values[METRIC_RATE].mean, 1);
	if (lift.count && (cell == first ||
			   !ratio_doubt(cell, first, &lift).text[0]))
		grid_set_number(grid, row, LIFT, lift.mean, 2);
	grid_set_count(grid, row, BATCH, images_of(cell->run));
	grid_set_cpus(grid, row, CPUS, cell->run);
	fill_target_row(grid, cell, FIRST, SETUP, options);
}

static void fill_posts(struct grid *grid, const struct post_network *network,
		       double first_rate)
{
	const struct post_inference *each = network->inferences;

	for (; each->device; each++) {
		const double rate = network->batch * 1e3 / each->percentiles[0];
		const int row = grid->rows++;

		snprintf(grid->labels[row], GRID_TEXT, "post: %s",
			 each->device);
		for (int p = 0; p < 4; p++)
			grid_set_number(grid, row, P50 + p,
					each->percentiles[p], 2);
		grid_set_count(grid, row, BATCH, network->batch);
		grid_set_number(grid, row, RATE, rate, 1);
		grid_set_number(grid, row, LIFT, rate / first_rate, 2);
	}
}

/* Counts the passes that were run: an interrupted run has fewer than asked
 * for. */
static struct short_text passes_text(const struct line *line)
{
	struct range passes = { 0 };
	const struct result *cell, *run;

	for (int t = 0; (cell = next_target(line, &t));)
		for (int r = 0; (run = next_repetition(cell, &r));)
			range_add(&passes,
				  (long)run->observations[METRIC_RATE]);
	return range_text(&passes, "forward pass");
}

/* Lists the targets that folded layers which others may compute. */
static void note_folded(const struct view *view, const struct line *line)
{
	const struct result *cell;
	char list[1024] = "";

	for (int at = 0; (cell = next_target(line, &at));)
		if (cell->outcome == OUTCOME_OK &&
		    !strcmp(cell->run->algorithm, "fast") &&
		    !cell->run->parameters_hash[0])
			text_list(list, sizeof(list), "", ", ", "%s",
				  cell->run->target);
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
	const struct post_network *network = find_network(find_settings(line));
	const struct result *first = line_first_rate(line), *cell;
	struct grid grid;

	if (target_grid(view, &grid, heads, HEADS, err))
		return -1;
	target_grid_title(view, &grid, line, passes_text(line).text, "", "");
	for (int at = 0; (cell = next_target(line, &at));)
		fill_cell(&grid, cell, first, view->options);
	if (network)
		fill_posts(&grid, network, first ?
			   first->values[METRIC_RATE].mean : NAN);
	grid_end(&grid, view->options, view->out);
	if (view->options->quiet)
		return 0;
	view_note(view, "first: the very first pass, warm-up included. lift: "
		  "images/s divided by the first target's; - if a run was "
		  "disturbed, or has too few CPUs");
	note_p99(view, line);
	note_folded(view, line);
	if (network)
		view_note(view, "%s", network->inference_note);
	return 0;
}
