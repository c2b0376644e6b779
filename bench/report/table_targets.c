/* Prints the first screen: a row per target, unusual settings, ratios of
 * speeds, and where the details are, with their terms. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/record/post.h"
#include "bench/record/run.h"
#include "bench/report/table_view.h"
#include "bench/system/command_line.h"
#include "bench/system/memory.h"
#include "bench/system/number.h"
#include "bench/system/text.h"

enum { ITER, EPOCH, RATE, UPDATES, ACCURACY, SETUP, CPUS, HEADS };

/* Mean and deviation, however skewed: brackets are intervals here. */
static void fill_iteration(char text[GRID_TEXT], const struct stats *stats,
			   double factor, const struct table_options *options)
{
	const double mean = stats->mean * factor;
	const int decimals = decimals_of(mean, 3);

	if (stats->count > 1)
		snprintf(text, GRID_TEXT, "%s %s%s",
			 fixed_text(mean, decimals).text, plus_minus(options),
			 fixed_text(stats->std * factor, decimals).text);
	else if (stats->count)
		snprintf(text, GRID_TEXT, "%s",
			 fixed_text(mean, decimals).text);
}

/* Shows a whole epoch, so that targets can be compared. */
static void fill_epoch(char text[GRID_TEXT], const struct result *cell)
{
	const int cut = run_is_cut(cell->run);
	const double epoch_s = cut ? cell->whole_epoch_s :
				     cell->values[METRIC_EPOCH].mean;

	if (isfinite(epoch_s))
		snprintf(text, GRID_TEXT, "%s%s", cut ? "~" : "",
			 fixed_text(epoch_s, decimals_of(epoch_s, 3)).text);
}

static void fill_row(const struct view *view, struct grid *grid,
		     const struct result *cell, struct scale scale)
{
	const struct stats *values = cell->values;
	const struct run *run = cell->run;
	const int row = grid->rows;

	fill_iteration(grid_at(grid, row, ITER)->text, &values[METRIC_ITER],
		       scale.factor, view->options);
	fill_epoch(grid_at(grid, row, EPOCH)->text, cell);
	grid_set_number(grid, row, RATE, values[METRIC_RATE].mean, 0);
	grid_set_number(grid, row, UPDATES, values[METRIC_UPDATES].mean, 0);
	if (values[METRIC_ACCURACY].count)
		snprintf(grid_at(grid, row, ACCURACY)->text, GRID_TEXT, "%s %%",
			 fixed_text(values[METRIC_ACCURACY].mean, 2).text);
	if (values[METRIC_UPDATES].count && run->global_batch != CELL_NO_INT)
		text_append(grid_at(grid, row, UPDATES)->text, GRID_TEXT,
			    " x %ld", run_update_samples(run));
	grid_set_cpus(grid, row, CPUS, run);
	fill_target_row(grid, cell, ITER, SETUP, view->options);
}

/* Is there a speed-up with an interval that is claimed? */
static int has_interval(const struct line *line)
{
	const struct result *base = line_base(line), *cell;

	for (int at = 0; base && (cell = next_target(line, &at));) {
		const struct stats *speedup = &cell->values[METRIC_SPEEDUP];

		if (cell != base && isfinite(stats_shown_half_width(speedup)) &&
		    !ratio_doubt(cell, base, speedup).text[0])
			return 1;
	}
	return 0;
}

/* " cut to 40 or 10 iterations": each once; empty if no epoch was cut. */
static void cut_text(char *text, size_t size, const struct line *line)
{
	long met[16];
	int count = 0, whole = 0, i;
	const struct run *run;

	for (int at = 0; (run = next_run(line, &at));) {
		whole |= run->model[0] && !run_is_cut(run);
		if (!run->model[0] || !run_is_cut(run))
			continue;
		for (i = 0; i < count && met[i] != run->steps;)
			i++;
		if (i == count && count < (int)(sizeof(met) / sizeof(met[0])))
			met[count++] = run->steps;
	}
	text[0] = '\0';
	for (i = 0; i < count; i++)
		text_list(text, size, " cut to ", " or ", "%ld", met[i]);
	if (count)
		text_append(text, size, "%s iteration%s",
			    whole ? " or all" : "",
			    count == 1 && met[0] == 1 && !whole ? "" : "s");
}

/* Returns the epochs of all runs: a target accuracy may end them early. */
static struct short_text epochs_text(const struct line *line)
{
	struct range epochs = { 0 };
	const struct run *run;

	for (int at = 0; (run = next_run(line, &at));)
		range_add(&epochs, run_epochs_done(run));
	return range_text(&epochs, "epoch");
}

static int has_extrapolated(const struct line *line)
{
	const struct result *cell;

	for (int at = 0; (cell = next_target(line, &at));)
		if (isfinite(cell->whole_epoch_s))
			return 1;
	return 0;
}

/* Writes the network, the number of runs, and the meaning of the signs. */
static void fill_title(const struct view *view, const struct line *line,
		       struct grid *grid)
{
	char spread[80], cut[120];

	cut_text(cut, sizeof(cut), line);
	snprintf(spread, sizeof(spread), ", %s between %s%s",
		 plus_minus(view->options),
		 line->repetitions == 1 ? "iterations" : "runs",
		 line->repetitions > 1 && has_interval(line) ? ", [95 %]" : "");
	target_grid_title(view, grid, line, epochs_text(line).text, cut,
			  spread);
}

static int draw_setup(const struct view *view, const struct line *line,
		      struct error *err)
{
	const struct scale scale = view_scale(view, METRIC_ITER);
	const char *const heads[HEADS] = {
		[ITER] = scale.factor > 1 ? "ms/iter" : "s/iter",
		[EPOCH] = has_extrapolated(line) ? "s/whole\nepoch" : "s/epoch",
		[RATE] = "images/s",
		[UPDATES] = "updates x\nglobal batch",
		[ACCURACY] = "accuracy",  [SETUP] = "start-up",
		[CPUS] = "CPUs",
	};
	const struct result *cell;
	struct grid grid;

	if (target_grid(view, &grid, heads, HEADS, err))
		return -1;
	fill_title(view, line, &grid);
	for (int at = 0; (cell = next_target(line, &at));)
		fill_row(view, &grid, cell, scale);
	grid_end(&grid, view->options, view->out);
	return 0;
}

/* Prints a paragraph; print_line() cleans it. */
static void print_paragraph(const struct view *view, const char *text)
{
	print_line(view->out, view->options, "", "%s", text);
	fputc('\n', view->out);
}

static const char *device_of(const struct view *view, const struct result *cell)
{
	return run_is_on_devices(cell->run) ?
		       view->devices[cell - cell->line->cells] : "";
}

/* The device of a target that is compared with none. */
static void print_devices(const struct view *view, const struct line *line)
{
	const struct result *cell;
	char text[2 * GRID_TEXT];

	for (int at = 0; (cell = next_target(line, &at));) {
		snprintf(text, sizeof(text), "%s is %s.", cell->run->target,
			 device_of(view, cell));
		if (device_of(view, cell)[0])
			print_paragraph(view, text);
	}
}

/* Returns the speed-up. Without a one-core target, returns the ratio of the
 * means, without an interval. */
static struct stats ratio_of(const struct result *cell,
			     const struct result *base, int is_speedup)
{
	if (is_speedup || !cell->values[METRIC_RATE].count)
		return cell->values[METRIC_SPEEDUP];
	return stats_single(cell->values[METRIC_RATE].mean /
			    base->values[METRIC_RATE].mean);
}

/* Statements about the speed of a line's targets. */
struct claims {
	char made[1536];    /* "cpu-8 is 1.84 times as fast as cpu-1, ..." */
	char refused[1024]; /* "cpu-8, opencl, since cpu-1 was disturbed" */
	char names[512];    /* names for the next part of refused */
	struct doubt doubt; /* doubt about names */
};

/* "opencl (PoCL, 2 CPUs)" */
static struct title_text name_text(const struct view *view,
				   const struct result *cell)
{
	const char *device = device_of(view, cell);
	struct title_text name;

	snprintf(name.text, sizeof(name.text), "%s%s%s%s", cell->run->target,
		 device[0] ? " (" : "", device, device[0] ? ")" : "");
	return name;
}

/* Adds "opencl (PoCL, 2 CPUs) is 1.84 times as fast as cpu-1 [1.81, 1.87]";
 * base and "as fast as" only in the first claim. counted: a ratio without an
 * interval gets its number of runs. */
static void add_claim(struct claims *claims, const struct view *view,
		      const struct result *cell, const struct stats *ratio,
		      const char *base, int counted)
{
	const size_t size = sizeof(claims->made);
	const double half = stats_shown_half_width(ratio);
	const int is_first = !claims->made[0];

	text_list(claims->made, size, "", ", ", "%s%s %s times%s%s",
		  name_text(view, cell).text, is_first ? " is" : "",
		  fixed_text(ratio->mean, 2).text,
		  is_first ? " as fast as " : "", is_first ? base : "");
	if (isfinite(half))
		text_append(claims->made, size, " %s",
			    interval_text(ratio->mean - half,
					  ratio->mean + half, 2).text);
	else if (counted)
		text_append(claims->made, size, " (n=%d)", cell->runs);
}

static void end_refused(struct claims *claims)
{
	if (claims->names[0])
		text_list(claims->refused, sizeof(claims->refused), "", "; ",
			  "%s, since %s", claims->names, claims->doubt.text);
	claims->names[0] = '\0';
}

/* Targets with the same doubt after each other share its text. */
static void add_refused(struct claims *claims, const struct view *view,
			const struct result *cell, const struct doubt *doubt)
{
	if (strcmp(claims->doubt.text, doubt->text) != 0)
		end_refused(claims);
	claims->doubt = *doubt;
	text_list(claims->names, sizeof(claims->names), "", ", ", "%s",
		  name_text(view, cell).text);
}

/* base: NULL if no target has a rate. */
static void make_claims(struct claims *claims, const struct view *view,
			const struct result *base, int is_speedup, int counted)
{
	const struct result *cell;

	for (int at = 0; base && (cell = next_target(base->line, &at));) {
		const struct stats ratio = ratio_of(cell, base, is_speedup);
		struct doubt doubt;

		if (cell == base || !ratio.count)
			continue;
		doubt = ratio_doubt(cell, base, &ratio);
		if (doubt.text[0])
			add_refused(claims, view, cell, &doubt);
		else
			add_claim(claims, view, cell, &ratio,
				  base->run->target, counted);
	}
	end_refused(claims);
}

static void print_ratios(const struct view *view, const struct line *line)
{
	const struct result *one = line_base(line);
	const struct result *base = one ? one : line_first_rate(line);
	const char *differ = work_differs(view->results, line);
	/* Intervals are of speed-ups over one core, from three runs on. */
	const int counted = one && line->repetitions > 2;
	struct claims claims = { .made = "" };
	char text[2048], runs[32] = "";

	make_claims(&claims, view, base, one != NULL, counted);
	if (line->repetitions == 1)
		snprintf(runs, sizeof(runs), " (one run each)");
	else if (!counted)
		snprintf(runs, sizeof(runs), " (%d runs each)",
			 line->repetitions);
	snprintf(text, sizeof(text), "In images/s%s, %s%s%s%s.", runs,
		 claims.made, differ ? "; " : "", differ ? differ : "",
		 differ ? ": compare accuracy too" : "");
	if (claims.made[0])
		print_paragraph(view, text);
	snprintf(text, sizeof(text), "Not compared with %s: %s.",
		 base ? base->run->target : "", claims.refused);
	if (claims.refused[0])
		print_paragraph(view, text);
	if (!claims.made[0] && !claims.refused[0])
		print_devices(view, line);
}

/* Prints warnings about a run that its title lacks; returns their number. */
static int warn_run(const struct view *view, const struct run *run,
		    struct names *told)
{
	char slowdown[320];
	int count = 0;

	if (post_data_differs(run))
		count += note_once(view, told, "the data set is %s, not MNIST",
				   run->dataset);
	if (!strcmp(run->kernels, "cold"))
		count += note_once(view, told, "%s: a cold start, which "
				   "compiled its kernels", run->target);
	if (run_is_ahead(run))
		count += note_once(view, told, "%s: s/iter is the epoch's mean "
				   "(--sync epoch)", run->target);
	run_explain_slowdown(run, slowdown, sizeof(slowdown));
	count += note_once(view, told, "%s", slowdown);
	if (!strcmp(run->dataset, "fake") && isfinite(run->final_accuracy_pct))
		count += note_once(view, told, "the data set fake repeats one "
				   "batch: accuracy and loss say nothing");
	if (run->weights[0])
		count += note_once(view, told, "%s the weights of a file "
				   "(--weights), SHA-256 %.16s...",
				   run_is_inference(run) ? "computed with" :
							   "training began "
							   "with",
				   run->weights);
	if (run_has_hosts(run))
		count += note_once(view, told, "%s was on the hosts %.240s",
				   run->target, run->hosts);
	return count;
}

static int print_warnings(const struct view *view)
{
	static results_text *const texts[] = {
		disturbed_text, results_short_text, results_tested_text,
		results_long_test_text, results_rising_loss_text,
	};
	const struct results *results = view->results;
	struct names told = { 0 };
	const struct line *line;
	char text[1024];
	int count = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		texts[i](results, text, sizeof(text));
		if (texts[i] == results_short_text && text[0])
			text_append(text, sizeof(text), "; s/epoch (~) is "
				    "extrapolated");
		count += note_once(view, &told, "%s", text);
	}
	for (size_t i = 0; i < results->run_count; i++)
		count += warn_run(view, &results->runs[i], &told);
	names_free(&told);
	for (int at = 0; (line = next_setup(results, &at));)
		count += view_differing_losses(view, line);
	return count + notes_outcomes(view);
}

static void print_where(const struct view *view)
{
	const char *where = view->options->where;
	const struct line *line;
	struct names told = { 0 };
	char command[2 * PATH_MAX];

	for (int at = 0; (line = next_setup(view->results, &at));)
		if (!line_is_inference(line))
			view_verified(view, line, &told);
	names_free(&told);
	if (!where)
		return;
	command_line_hint(command, sizeof(command), "table", NULL);
	view_note(view, "more: %s %s --details", command, where);
	command_line_hint(command, sizeof(command), "plot", NULL);
	if (view->options->is_folder)
		view_note(view, "pictures: %s %s", command, where);
}

int view_targets(const struct view *view, struct error *err)
{
	const int quiet = view->options->quiet;
	const struct line *line;

	if (!quiet && print_warnings(view))
		fputc('\n', view->out);
	for (int at = 0; (line = next_setup(view->results, &at));) {
		if (line_is_inference(line) ? view_inference(view, line, err) :
					      draw_setup(view, line, err))
			return -1;
		if (quiet || line_is_inference(line))
			continue;
		print_ratios(view, line);
		if (view_published(view, line, err))
			return -1;
	}
	if (view_accuracy(view, err))
		return -1;
	if (!quiet)
		print_where(view);
	return 0;
}
