/* Prints the details: a table per setup, with a row per quantity. */
#include <math.h>
#include <string.h>

#include "bench/report/table_view.h"
#include "bench/system/text.h"

/* A property of the runs that is not a metric. */
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
	double factor; /* 0 = as in the iterations' table */
} quantities[] = {
	{ "parameter updates", IS_METRIC, METRIC_UPDATES, 0, 1 },
	{ "global batch", GLOBAL_BATCH, 0, 0, 1 },
	{ "start-up (s)", IS_METRIC, METRIC_SETUP, 3, 1 },
	{ "images/s", IS_METRIC, METRIC_RATE, 1, 1 },
	{ "speed-up", IS_METRIC, METRIC_SPEEDUP, 2, 1 },
	{ "efficiency", IS_METRIC, METRIC_EFFICIENCY, 2, 1 },
	{ "test accuracy (%)", IS_METRIC, METRIC_ACCURACY, 2, 1 },
	{ "training loss", IS_METRIC, METRIC_TRAIN_LOSS, 4, 1 },
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

static void status_text(char text[GRID_TEXT], const struct result *cell)
{
	const int all = cell->line->repetitions;

	if (cell->outcome == OUTCOME_OK && cell->runs < all)
		snprintf(text, GRID_TEXT, "ok, %d of %d", cell->runs, all);
	else
		snprintf(text, GRID_TEXT, "%s", outcome_names[cell->outcome]);
}

static void set_property(const struct grid *grid, int row, int column,
			 const struct result *cell)
{
	if (quantities[row].property == STATUS)
		status_text(grid_at(grid, row, column)->text, cell);
	else if (quantities[row].property == GLOBAL_BATCH)
		grid_set_count(grid, row, column,
			       run_update_samples(cell->run));
	else
		grid_set_cpus(grid, row, column, cell->run);
}

static void fill_quantity(const struct view *view, const struct grid *grid,
			  int row, const struct line *line, struct scale scale)
{
	const struct quantity *quantity = &quantities[row];
	const double factor = quantity->factor ? quantity->factor :
						 scale.factor;
	const double asked = line_target_accuracy(line);
	const struct result *cell;

	if (quantity->metric == METRIC_TIME_TO_ACCURACY)
		snprintf(grid->labels[row], GRID_TEXT, "%s %g %% (s)",
			 quantity->label,
			 isfinite(asked) ? asked : USUAL_ACCURACY_PCT);
	else if (quantity->factor)
		snprintf(grid->labels[row], GRID_TEXT, "%s", quantity->label);
	else
		snprintf(grid->labels[row], GRID_TEXT, "%s (%s/iter)",
			 quantity->label, scale.name);
	if (quantity->property == IS_METRIC)
		view_fill_metric(view, grid, row, line, quantity->metric,
				 (struct metric_format){
					 factor, quantity->decimals, 0 });
	else
		for (int c = 0; (cell = next_column(view, line, &c));)
			set_property(grid, row, c - 1, cell);
}

/* The post's tables have no titles: a corner names the setup. */
static int make_grid(const struct view *view, struct grid *grid, int rows,
		     const char *label, struct error *err)
{
	if (view_grid(view, grid, rows, err))
		return -1;
	snprintf(grid->title, GRID_TITLE, "Details: %s", label);
	if (view->options->format == TABLE_POST)
		snprintf(grid->corner, GRID_TITLE, "%s", label);
	return 0;
}

static int draw_setup(const struct view *view, const struct line *line,
		      struct scale scale, struct error *err)
{
	char label[GRID_TEXT];
	struct grid grid;

	view_label(view, line, NULL, label);
	if (make_grid(view, &grid, QUANTITIES, label, err))
		return -1;
	for (int row = 0; row < QUANTITIES; row++)
		fill_quantity(view, &grid, row, line, scale);
	grid_end(&grid, view->options, view->out);
	return 0;
}

/* Draws the other figures that the post has. */
static int draw_post(const struct view *view, const char *setup,
		     struct error *err)
{
	char label[GRID_TEXT];
	struct grid grid;

	snprintf(label, sizeof(label), "post 002, %s", setup);
	if (make_grid(view, &grid, 3, label, err))
		return -1;
	snprintf(grid.labels[0], GRID_TEXT, "parameter updates");
	snprintf(grid.labels[1], GRID_TEXT, "global batch");
	snprintf(grid.labels[2], GRID_TEXT, "test accuracy (%%)");
	for (int column = 0; column < grid.columns; column++) {
		const struct post_figure *figure =
			find_post(view, setup, view->order[column],
				  post_compares_epoch);

		if (!figure)
			continue;
		grid_set_count(&grid, 0, column, figure->updates);
		grid_set_count(&grid, 1, column, figure->global_batch);
		grid_set_number(&grid, 2, column, figure->accuracy_pct, 2);
	}
	grid_end(&grid, view->options, view->out);
	return 0;
}

static double global_batch_of(const struct result *cell)
{
	return cell->run->global_batch == CELL_NO_INT ?
		       NAN : (double)cell->run->global_batch;
}

static double updates_of(const struct result *cell)
{
	return cell->values[METRIC_UPDATES].mean;
}

/* A missing value differs from none. line: NULL = any line. */
static int differs(const struct results *results, const struct line *line,
		   double value(const struct result *cell))
{
	const struct result *cell;
	double first = NAN;

	for (int l = 0; !line && l < results->line_count; l++)
		if (differs(results, &results->lines[l], value))
			return 1;
	for (int at = 0; line && (cell = next_target(line, &at));) {
		const double each = value(cell);

		if (each < first || each > first)
			return 1;
		first = isfinite(first) ? first : each;
	}
	return 0;
}

const char *work_differs(const struct results *results, const struct line *line)
{
	static const char *const what[] = {
		NULL, "updates differ", "global batches differ",
		"global batches and updates differ",
	};

	return what[2 * differs(results, line, global_batch_of) +
		    differs(results, line, updates_of)];
}

/* The whole device that this run's are parts of, or one of its devices. */
static const struct result *find_single(const struct view *view,
					const struct result *several)
{
	const struct result *cell;

	for (int c = 0; (cell = next_column(view, several->line, &c));)
		if (run_is_on_devices(cell->run) && cell->run->cores == 1 &&
		    !strcmp(cell->run->device_name, several->run->device_name))
			return cell;
	return NULL;
}

/* Prints devices. Their units are not cores, so they are compared with each
 * other. */
static void note_devices(const struct view *view, const struct line *line)
{
	const struct result *cell, *single;

	for (int c = 0; (cell = next_column(view, line, &c));) {
		const struct run *run = cell->run;
		struct stats ratio;

		if (!run_is_on_devices(run) || run->cores == 1)
			continue;
		single = find_single(view, cell);
		if (!single || !(single->values[METRIC_RATE].mean > 0))
			continue;
		ratio = stats_single(cell->values[METRIC_RATE].mean /
				     single->values[METRIC_RATE].mean);
		if (ratio.count && !ratio_doubt(cell, single, &ratio).text[0])
			view_note(view, "%s%s: %ld %s, %s times the images/s "
				  "of %s", line_prefix(view, line).text,
				  run->target, run->cores, run_cores_name(run),
				  fixed_text(ratio.mean, 2).text,
				  single->run->target);
	}
}

/* Prints the CPUs and hosts; older rows lack them. */
static void note_places(const struct view *view, const struct line *line)
{
	const struct result *cell;
	char text[1024] = "";

	for (int c = 0; (cell = next_column(view, line, &c));)
		if (cell->run->cpu_list[0])
			text_list(text, sizeof(text), "", "; ", "%s %s%s%s",
				  cell->run->target, cell->run->cpu_list,
				  cell->run->hosts[0] ? " of " : "",
				  cell->run->hosts);
	if (text[0])
		view_note(view, "%sCPUs used, by number: %s",
			  line_prefix(view, line).text, text);
}

static void print_notes(const struct view *view)
{
	const struct scale speedup = { 1, "speed-up" };
	const char *differ = work_differs(view->results, NULL);
	const struct line *line;
	char tested[1024];

	results_tested_text(view->results, tested, sizeof(tested));
	view_note(view, "images/s: training samples divided by the seconds of "
		  "iterations and of waiting for the loader; test, start-up "
		  "and warm-up are not included");
	view_note(view, "speed-up: images/s divided by the images/s of cpu-1, "
		  "or of the first target with one emulated core, in the same "
		  "campaign and repetition. Without one, as among devices, it "
		  "is -. Efficiency: speed-up divided by cores");
	if (view->doubts[0])
		view_note(view, "left out are speed-up and efficiency of %s",
			  view->doubts);
	view_note(view, "time to an accuracy: from before the data set is read "
		  "to the end of the first test with this accuracy. If a run "
		  "failed, or never reached it, the time is -");
	if (differ)
		view_note(view, "%s between columns, so compare accuracy as "
			  "well as times", differ);
	if (tested[0])
		view_note(view, "%s", tested);
	note_p99(view, NULL);
	view_note(view, "CPU time is of the whole process, user and system");
	for (int at = 0; (line = next_setup(view->results, &at));) {
		note_interval(view, line, METRIC_SPEEDUP, speedup);
		note_devices(view, line);
		note_places(view, line);
	}
}

int view_details(const struct view *view, struct error *err)
{
	const struct scale scale = view_scale(view, METRIC_ITER);
	const struct line *line;

	for (int at = 0; (line = next_setup(view->results, &at));)
		if (draw_setup(view, line, scale, err))
			return -1;
	if (has_post(view, post_compares_epoch) &&
	    (draw_post(view, "example", err) || draw_post(view, "Colab", err)))
		return -1;
	print_notes(view);
	fputc('\n', view->out);
	return 0;
}
