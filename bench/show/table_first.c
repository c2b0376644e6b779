/*
 * The first screen: what is odd about these runs, a row a target, who is how
 * much faster, and where the rest is. What the terms mean stands there.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/system/memory.h"
#include "bench/system/number.h"
#include "bench/record/run.h"
#include "bench/record/post.h"
#include "bench/show/table_view.h"

enum { ITER, EPOCH, RATE, UPDATES, ACCURACY, SETUP, CPUS, HEADS };

/* As many decimals as make three digits. */
static int decimals_of(double shown)
{
	return shown >= 100 ? 0 : shown >= 10 ? 1 : shown >= 1 ? 2 : 3;
}

static void fill_number(char text[GRID_TEXT], const struct stats *stats,
			int decimals, const char *unit)
{
	char number[NUMBER_SIZE];

	if (!stats->count)
		return;
	number_print_fixed(number, stats->mean, decimals);
	snprintf(text, GRID_TEXT, "%s%s", number, unit);
}

/* Mean and deviation, however skewed: brackets are intervals here. */
static void fill_iteration(char text[GRID_TEXT], const struct stats *stats,
			   double factor, const struct table_options *options)
{
	const int decimals = decimals_of(factor * stats->mean);
	char mean[NUMBER_SIZE], spread[NUMBER_SIZE];

	if (!stats->count)
		return;
	number_print_fixed(mean, stats->mean * factor, decimals);
	number_print_fixed(spread, stats->std * factor, decimals);
	snprintf(text, GRID_TEXT, "%s%s%s%s", mean,
		 stats->count > 1 ? " " : "",
		 stats->count > 1 ? plus_minus(options) : "",
		 stats->count > 1 ? spread : "");
}

static void fill_row(const struct view *view, const struct grid *grid, int row,
		     const struct result *cell, struct scale scale)
{
	const struct stats *values = cell->values;
	const struct run *run = cell->run;
	char label[GRID_TEXT];

	snprintf(label, sizeof(label), "%s%s", run->target,
		 cell->outcome == OUTCOME_PARTIAL ? ", partial" : "");
	clean_text(grid->labels[row], GRID_TEXT, label, view->options);
	fill_iteration(grid_at(grid, row, ITER)->text, &values[METRIC_ITER],
		       scale.factor, view->options);
	fill_number(grid_at(grid, row, EPOCH)->text, &values[METRIC_EPOCH],
		    decimals_of(values[METRIC_EPOCH].mean), "");
	fill_number(grid_at(grid, row, RATE)->text, &values[METRIC_RATE], 0,
		    "");
	fill_number(grid_at(grid, row, UPDATES)->text, &values[METRIC_UPDATES],
		    0, "");
	fill_number(grid_at(grid, row, ACCURACY)->text,
		    &values[METRIC_ACCURACY], 2, " %");
	fill_number(grid_at(grid, row, SETUP)->text, &values[METRIC_SETUP],
		    2, " s");
	/* What failed is seen here as well, since -q shows nothing else. */
	if (cell->outcome == OUTCOME_ERROR || cell->outcome == OUTCOME_SKIPPED)
		snprintf(grid_at(grid, row, ITER)->text, GRID_TEXT, "%s",
			 cell->outcome == OUTCOME_ERROR ? "failed" : "skipped");
	if (values[METRIC_UPDATES].count && run->global_batch != CELL_NO_INT)
		snprintf(strchr(grid_at(grid, row, UPDATES)->text, '\0'), 32,
			 " x %ld", run->global_batch);
	if (run->cpus != CELL_NO_INT)
		snprintf(grid_at(grid, row, CPUS)->text, GRID_TEXT, "%ld",
			 run->cpus);
}

static int has_interval(const struct results *results, const struct line *line)
{
	const struct result *base = line_base(results, line);

	for (int t = 0; t < results->target_count; t++)
		if (&line->cells[t] != base &&
		    line->cells[t].values[METRIC_SPEEDUP].count > 1)
			return 1;
	return 0;
}

/* What was trained, how often, and what the signs behind the numbers are. */
static void fill_title(const struct view *view, const struct line *line,
		       char title[GRID_TITLE])
{
	const struct run *run = find_asked(view->results, line);
	const char *sign = plus_minus(view->options);
	const char *precision = run ? run_odd_precision(run) : "";
	char raw[GRID_TITLE], epochs[96] = "", n[80];

	if (run && run->epochs != CELL_NO_INT)
		snprintf(epochs, sizeof(epochs), ", %ld epoch%s", run->epochs,
			 run->epochs == 1 ? "" : "s");
	if (run && run_is_cut(run))
		snprintf(strchr(epochs, '\0'), 48, " cut to %ld iteration%s",
			 run->steps, run->steps == 1 ? "" : "s");
	if (line->repetitions == 1)
		snprintf(n, sizeof(n), "n=1, %s between iterations", sign);
	else
		snprintf(n, sizeof(n), "n=%d, %s between runs%s",
			 line->repetitions, sign,
			 has_interval(view->results, line) ? ", [95 %]" : "");
	snprintf(raw, sizeof(raw), "%s%s%s%s%s%s%s%s%s%s%s; %s",
		 setup_count(view->results) > 1 || line->run->label[0] ?
			 setup_name(line) : "",
		 setup_count(view->results) > 1 || line->run->label[0] ?
			 ": " : "",
		 run ? run->model : "no runs.csv", run ? " on " : "",
		 !run ? "" : run->dataset[0] ? run->dataset : "unknown data",
		 epochs, run && !strcmp(run->dropout, "off") ?
			 ", dropout off" : "",
		 run && !strcmp(run->algorithm, "dense") ? ", dense" : "",
		 *precision ? ", " : "", precision,
		 view->results->include_warmup ? ", warm-up included" : "", n);
	clean_text(title, GRID_TITLE, raw, view->options);
}

static int draw_setup(const struct view *view, const struct line *line,
		      struct error *err)
{
	static const char *const heads[HEADS] = {
		[EPOCH] = "s/epoch",	   [RATE] = "images/s",
		[UPDATES] = "updates x\nglobal batch",
		[ACCURACY] = "accuracy",  [SETUP] = "start-up",
		[CPUS] = "CPUs",
	};
	const struct scale scale = view_scale(view, METRIC_ITER);
	struct grid grid;
	int row = 0;

	if (grid_make(&grid, HEADS, view->results->target_count, err))
		return -1;
	grid.unmarked = 1;
	fill_title(view, line, grid.title);
	snprintf(grid.corner, GRID_TITLE, "target");
	for (int i = 0; i < HEADS; i++)
		snprintf(grid.heads[i], GRID_TEXT, "%s", heads[i] ? heads[i] :
								    "");
	snprintf(grid.heads[ITER], GRID_TEXT, "%s/iter", scale.name);
	for (int t = 0; t < view->results->target_count; t++)
		if (line->cells[t].run)
			fill_row(view, &grid, row++, &line->cells[t], scale);
	grid.rows = row;
	grid_draw(&grid, view->options, view->out);
	grid_free(&grid);
	return 0;
}

static int is_device(const struct view *view, const struct line *line,
		     int target)
{
	const struct run *run = line->cells[target].run;

	return run && run_is_on_devices(run) && view->devices[target][0];
}

/* What a target is called where it is said how fast it is. */
static void name_target(const struct view *view, const struct line *line,
			int target, char name[2 * GRID_TEXT])
{
	const int used = snprintf(name, 2 * GRID_TEXT, "%s",
				  view->results->targets[target]);

	if (is_device(view, line, target))
		snprintf(name + used, 2 * GRID_TEXT - (size_t)used, " (%s)",
			 view->devices[target]);
}

/* "1.84 times as fast as cpu-1 [1.81, 1.87]"; as: NULL where that was said. */
static void ratio_text(char text[2 * GRID_TEXT], const struct stats *speedup,
		       const char *as)
{
	const double half = stats_half_width(speedup);
	char ratio[NUMBER_SIZE], low[NUMBER_SIZE], high[NUMBER_SIZE];

	number_print_fixed(ratio, speedup->mean, 2);
	number_print_fixed(low, speedup->mean - half, 2);
	number_print_fixed(high, speedup->mean + half, 2);
	snprintf(text, 2 * GRID_TEXT, "%s%s times%s%s", as ? "is " : "", ratio,
		 as ? " as fast as " : "", as ? as : "");
	if (isfinite(half))
		snprintf(strchr(text, '\0'), 2 * NUMBER_SIZE + 8, " [%s, %s]",
			 low, high);
}

/* The device of a target that is compared with none. */
static void print_devices(const struct view *view, const struct line *line)
{
	for (int t = 0; t < view->results->target_count; t++)
		if (is_device(view, line, t))
			print_paragraph(view->out, view->options, "%s is %s.",
					view->results->targets[t],
					view->devices[t]);
}

/* The first target that has a rate, for want of one with one core. */
static const struct result *first_rate(const struct view *view,
				       const struct line *line)
{
	for (int t = 0; t < view->results->target_count; t++)
		if (line->cells[t].values[METRIC_RATE].count)
			return &line->cells[t];
	return NULL;
}

/* The fourth table's speed-up; over another target than one core it has none,
 * and this is the means' ratio, without an interval. */
static struct stats ratio_of(const struct result *cell,
			     const struct result *base, int is_speedup)
{
	if (is_speedup || !cell->values[METRIC_RATE].count)
		return cell->values[METRIC_SPEEDUP];
	return stats_single(cell->values[METRIC_RATE].mean /
			    base->values[METRIC_RATE].mean);
}

static void print_ratios(const struct view *view, const struct line *line)
{
	const struct result *one = line_base(view->results, line);
	const struct result *base = one ? one : first_rate(view, line);
	const char *differ = work_differs(view->results);
	char text[1536] = "", name[2 * GRID_TEXT], ratio[2 * GRID_TEXT];
	int count = 0;

	for (int t = 0; base && t < view->results->target_count; t++) {
		const struct result *cell = &line->cells[t];
		const struct stats speedup = ratio_of(cell, base, one != NULL);
		const size_t used = strlen(text);

		if (cell == base || !speedup.count)
			continue;
		name_target(view, line, t, name);
		ratio_text(ratio, &speedup, count ? NULL : base->run->target);
		snprintf(text + used, sizeof(text) - used, "%s%s %s",
			 count++ ? ", " : "In images/s, ", name, ratio);
	}
	if (count)
		print_paragraph(view->out, view->options, "%s%s%s%s.", text,
				differ ? "; " : "", differ ? differ : "",
				differ ? ": compare accuracy too" : "");
	else
		print_devices(view, line);
}

static void warn(const struct view *view, int *count, const char *text)
{
	if (text[0])
		print_note(view->out, view->options, "%s", text);
	*count += text[0] != '\0';
}

/* What the title cannot say of this run alone. */
static void warn_run(const struct view *view, const struct run *run,
		     struct names *told, int *count)
{
	char text[4][320] = { "" };
	struct error ignored;

	if (post_data_differs(run))
		snprintf(text[0], sizeof(text[0]), "the data set is %s, not "
			 "MNIST", run->dataset);
	if (!strcmp(run->kernels, "cold"))
		snprintf(text[1], sizeof(text[1]), "%s: a cold start, which "
			 "compiled its kernels", run->target);
	if (run_is_ahead(run))
		snprintf(text[2], sizeof(text[2]), "%s: s/iter is the epoch's "
			 "mean (--sync epoch)", run->target);
	slowdown_explain(run, text[3], sizeof(text[3]));
	for (int i = 0; i < 4; i++) {
		const int before = told->count;

		/* Once of all runs; without memory it is told again. */
		if (text[i][0] && (names_number(told, text[i], &ignored) < 0 ||
				   told->count > before))
			warn(view, count, text[i]);
	}
}

/* Each target's last run; what does not fit is left out. */
static void cut_text(const struct results *results, char *text, size_t size)
{
	int count = 0;

	text[0] = '\0';
	for (int t = 0; t < results->target_count; t++) {
		const struct run *run = NULL;
		const size_t used = strlen(text);

		for (size_t i = 0; i < results->run_count; i++)
			if (!strcmp(results->runs[i].target,
				    results->targets[t]) &&
			    run_is_cut(&results->runs[i]) &&
			    run_whole_epoch(&results->runs[i]) != CELL_NO_INT)
				run = &results->runs[i];
		if (!run)
			continue;
		snprintf(text + used, size - used, "%s%s %ld of %ld%s",
			 count ? ", " : "cut short: ", run->target, run->steps,
			 run_whole_epoch(run),
			 count ? "" : " iterations");
		count++;
	}
}

static int print_warnings(const struct view *view)
{
	const struct results *results = view->results;
	struct names told = { 0 };
	char text[1024];
	int count = 0;

	disturbed_text(results, text, sizeof(text));
	warn(view, &count, text);
	cut_text(results, text, sizeof(text));
	warn(view, &count, text);
	for (size_t i = 0; i < results->run_count; i++)
		warn_run(view, &results->runs[i], &told, &count);
	names_free(&told);
	return count + notes_outcomes(view);
}

static void print_where(const struct view *view)
{
	const struct table_options *options = view->options;

	if (!options->where)
		return;
	print_note(view->out, options, "more: bench table %s --details",
		   options->where);
	if (options->is_folder)
		print_note(view->out, options, "pictures: bench "
			   "plot %s", options->where);
}

int view_first(const struct view *view, struct error *err)
{
	const struct results *results = view->results;
	const int quiet = view->options->quiet;

	if (!quiet && print_warnings(view))
		fputc('\n', view->out);
	for (int i = 0; i < results->line_count; i++) {
		const struct line *line = &results->lines[i];

		if (!line_is_setup(line))
			continue;
		if (draw_setup(view, line, err))
			return -1;
		if (!quiet)
			print_ratios(view, line);
	}
	if (view_accuracy(view, err))
		return -1;
	if (!quiet)
		print_where(view);
	return 0;
}
