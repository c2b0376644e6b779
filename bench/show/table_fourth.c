#include "bench/show/table_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/post.h"

/* What is not a metric, but a property of the runs. */
enum property {
	IS_METRIC,
	GLOBAL_BATCH,
	CPUS,
	STATUS
};

static const struct quantity {
	const char *label;
	enum property property;
	enum metric metric;
	int decimals;
	double factor; /* 0: that of the iterations' table */
} quantities[] = {
	{ "parameter updates", IS_METRIC, METRIC_UPDATES, 0, 1 },
	{ "global batch", GLOBAL_BATCH, 0, 0, 1 },
	{ "start-up (s)", IS_METRIC, METRIC_SETUP, 3, 1 },
	{ "images/s", IS_METRIC, METRIC_RATE, 1, 1 },
	{ "speed-up", IS_METRIC, METRIC_SPEEDUP, 2, 1 },
	{ "efficiency", IS_METRIC, METRIC_EFFICIENCY, 2, 1 },
	{ "test accuracy (%)", IS_METRIC, METRIC_ACCURACY, 2, 1 },
	{ "final test loss", IS_METRIC, METRIC_LOSS, 4, 1 },
	{ "time to", IS_METRIC, METRIC_TIME_TO_ACCURACY, 3, 1 },
	{ "p50", IS_METRIC, METRIC_P50, 3, 0 },
	{ "p99", IS_METRIC, METRIC_P99, 3, 0 },
	{ "peak memory (MB)", IS_METRIC, METRIC_MAXRSS, 1, 1e-6 },
	{ "CPUs allowed", CPUS, 0, 0, 1 },
	{ "CPU time (s)", IS_METRIC, METRIC_CPU, 1, 1 },
	{ "status", STATUS, 0, 0, 1 },
};

enum { QUANTITIES = sizeof(quantities) / sizeof(quantities[0]) };

static void status_text(char text[GRID_TEXT], const struct line *line,
			const struct result *cell)
{
	static const char *const names[] = {
		[OUTCOME_NONE] = "-",	      [OUTCOME_OK] = "ok",
		[OUTCOME_PARTIAL] = "partial", [OUTCOME_ERROR] = "error",
		[OUTCOME_SKIPPED] = "skipped",
	};

	if (cell->outcome == OUTCOME_OK && cell->runs < line->repetitions)
		snprintf(text, GRID_TEXT, "ok, %d of %d", cell->runs,
			 line->repetitions);
	else
		snprintf(text, GRID_TEXT, "%s", names[cell->outcome]);
}

static void count_text(char text[GRID_TEXT], long count)
{
	if (count != CELL_NO_INT)
		snprintf(text, GRID_TEXT, "%ld", count);
}

static void fill_cell(const struct view *view, char text[GRID_TEXT],
		      const struct quantity *quantity, const struct line *line,
		      const struct result *cell, double factor)
{
	const struct stats *stats = &cell->values[quantity->metric];

	if (quantity->property == STATUS)
		status_text(text, line, cell);
	if (quantity->property != IS_METRIC) {
		if (cell->run && quantity->property == GLOBAL_BATCH)
			count_text(text, cell->run->global_batch);
		if (cell->run && quantity->property == CPUS)
			count_text(text, cell->run->cpus);
		return;
	}
	if (!stats->count)
		return;
	/* Updates are counted, so they have no spread to show. */
	format_spread(text, stats->mean * factor,
		      stats->count > 1 && quantity->decimals ?
			      stats->std * factor : NAN,
		      quantity->decimals, view->options);
}

static double accuracy_of(const struct view *view, const struct line *line)
{
	const double accuracy = line_target_accuracy(view->results, line);

	return isfinite(accuracy) ? accuracy : USUAL_ACCURACY_PCT;
}

static void fill_quantity(const struct view *view, const struct grid *grid,
			  int row, const struct line *line, struct scale scale,
			  struct contender *contenders)
{
	const struct quantity *quantity = &quantities[row];
	double factor = quantity->factor ? quantity->factor : scale.factor;
	int column;

	if (quantity->metric == METRIC_TIME_TO_ACCURACY)
		snprintf(grid->labels[row], GRID_TEXT, "%s %g %% (s)",
			 quantity->label, accuracy_of(view, line));
	else if (quantity->factor)
		snprintf(grid->labels[row], GRID_TEXT, "%s", quantity->label);
	else
		snprintf(grid->labels[row], GRID_TEXT, "%s (%s/iter)",
			 quantity->label, scale.name);
	for (column = 0; column < grid->columns; column++) {
		const struct result *cell = view_cell(view, line, column);

		fill_cell(view, grid_at(grid, row, column)->text, quantity,
			  line, cell, factor);
		contenders[column] = contend(line, cell, quantity->metric);
	}
	if (quantity->property == IS_METRIC)
		mark_best(grid, row, contenders,
			  metric_kinds[quantity->metric].better);
}

static int draw_setup(const struct view *view, const struct line *line,
		      struct scale scale, struct error *err)
{
	struct grid grid;
	struct contender *contenders;
	char label[GRID_TEXT];
	int row, column;

	if (grid_make(&grid, view->results->target_count, QUANTITIES, err))
		return -1;
	contenders = malloc(((size_t)grid.columns + 1) * sizeof(*contenders));
	if (!contenders) {
		grid_free(&grid);
		return error_memory(err, "a table");
	}
	view_label(view, line, label);
	snprintf(grid.title, GRID_TITLE, "Behind the times: %s", label);
	snprintf(grid.corner, GRID_TEXT, "%s",
		 view->options->format == TABLE_POST ? label : "");
	for (column = 0; column < grid.columns; column++)
		view_head(view, column, grid.heads[column]);
	for (row = 0; row < QUANTITIES; row++)
		fill_quantity(view, &grid, row, line, scale, contenders);
	grid_draw(&grid, view->options, view->out);
	free(contenders);
	grid_free(&grid);
	return 0;
}

/* What is known of the post's runs beside their times. */
static int draw_post(const struct view *view, const char *setup,
		     struct error *err)
{
	const struct post_figure *figure;
	struct grid grid;
	int column;

	if (grid_make(&grid, view->results->target_count, 3, err))
		return -1;
	snprintf(grid.title, GRID_TEXT, "Behind the times: post 002, %s",
		 setup);
	if (view->options->format == TABLE_POST)
		snprintf(grid.corner, GRID_TEXT, "post 002, %s", setup);
	snprintf(grid.labels[0], GRID_TEXT, "parameter updates");
	snprintf(grid.labels[1], GRID_TEXT, "global batch");
	snprintf(grid.labels[2], GRID_TEXT, "test accuracy (%%)");
	for (column = 0; column < grid.columns; column++) {
		view_head(view, column, grid.heads[column]);
		figure = find_post(view, setup, view->order[column],
				   post_compares_epoch);
		if (!figure)
			continue;
		count_text(grid_at(&grid, 0, column)->text, figure->updates);
		count_text(grid_at(&grid, 1, column)->text,
			   figure->global_batch);
		format_spread(grid_at(&grid, 2, column)->text,
			      figure->accuracy_pct, NAN, 2, view->options);
	}
	grid_draw(&grid, view->options, view->out);
	grid_free(&grid);
	return 0;
}

int view_fourth(const struct view *view, struct error *err)
{
	const struct results *results = view->results;
	struct scale scale = view_scale(view, METRIC_ITER);
	int line;

	for (line = 0; line < results->line_count; line++)
		if (line_is_setup(&results->lines[line]) &&
		    draw_setup(view, &results->lines[line], scale, err))
			return -1;
	if (has_post(view, post_compares_epoch) &&
	    (draw_post(view, "example", err) || draw_post(view, "Colab", err)))
		return -1;
	notes_fourth(view);
	fputc('\n', view->out);
	return 0;
}
