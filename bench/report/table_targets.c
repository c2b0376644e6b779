/*
 * A row a target, for the first screen: what is odd about these runs, the
 * figures that matter, who is how much faster, and where the rest is. What the
 * terms mean stands there.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/record/post.h"
#include "bench/record/run.h"
#include "bench/report/table_view.h"
#include "bench/system/memory.h"
#include "bench/system/number.h"
#include "bench/system/text.h"
#include "bench/system/words.h"

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

/* Of a whole epoch, so that targets can be compared. */
static void fill_epoch(char text[GRID_TEXT], const struct result *cell)
{
	const int cut = run_is_cut(cell->run);
	const double epoch_s = cut ? cell->whole_epoch_s :
				     cell->values[METRIC_EPOCH].mean;

	if (isfinite(epoch_s))
		snprintf(text, GRID_TEXT, "%s%s", cut ? "~" : "",
			 fixed_text(epoch_s, decimals_of(epoch_s, 3)).text);
}

static void fill_row(const struct view *view, const struct grid *grid, int row,
		     const struct result *cell, struct scale scale)
{
	const struct stats *values = cell->values;
	const struct run *run = cell->run;

	fill_iteration(grid_at(grid, row, ITER)->text, &values[METRIC_ITER],
		       scale.factor, view->options);
	fill_epoch(grid_at(grid, row, EPOCH)->text, cell);
	grid_set_number(grid, row, RATE, values[METRIC_RATE].mean, 0);
	grid_set_number(grid, row, UPDATES, values[METRIC_UPDATES].mean, 0);
	if (values[METRIC_ACCURACY].count)
		snprintf(grid_at(grid, row, ACCURACY)->text, GRID_TEXT, "%s %%",
			 fixed_text(values[METRIC_ACCURACY].mean, 2).text);
	fill_target_row(grid, row, cell, ITER, SETUP, view->options);
	if (values[METRIC_UPDATES].count && run->global_batch != CELL_NO_INT)
		snprintf(strchr(grid_at(grid, row, UPDATES)->text, '\0'), 32,
			 " x %ld", run_update_samples(run));
	grid_set_cpus(grid, row, CPUS, run);
}

/* Is there a speed-up with an interval that is claimed? */
static int has_interval(const struct results *results, const struct line *line)
{
	const struct result *base = line_base(results, line);
	char doubt[160];

	for (int t = 0; base && t < results->target_count; t++) {
		const struct result *cell = &line->cells[t];
		const struct stats *speedup = &cell->values[METRIC_SPEEDUP];

		if (cell == base || !isfinite(stats_shown_half_width(speedup)))
			continue;
		ratio_doubt_text(doubt, sizeof(doubt), line, cell, base,
				 speedup);
		if (!doubt[0])
			return 1;
	}
	return 0;
}

/* " cut to 40 or 10 iterations": each once; empty if no epoch was cut. */
static void cut_text(char *text, size_t size, const struct results *results,
		     const struct line *line)
{
	long met[16];
	int count = 0, whole = 0, i;
	const struct run *run;

	for (int at = 0; (run = next_run(results, line, &at));) {
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
		text_append(text, size, "%s%ld", i ? " or " : " cut to ",
			    met[i]);
	if (count)
		text_append(text, size, "%s iteration%s",
			    whole ? " or all" : "",
			    count == 1 && met[0] == 1 && !whole ? "" : "s");
}

/* Those of all its runs, which a target accuracy may end at different ones. */
static struct short_text epochs_text(const struct results *results,
				     const struct line *line)
{
	struct range epochs = { 0 };
	const struct run *run;

	for (int at = 0; (run = next_run(results, line, &at));)
		range_add(&epochs, run_epochs_done(run));
	return range_text(&epochs, "epoch");
}

static void trained_text(char *text, size_t size, const struct run *run,
			 const char *done, const char *cut)
{
	char epochs[48] = "";

	if (done[0])
		snprintf(epochs, sizeof(epochs), ", %.40s", done);
	snprintf(text, size, "%s on %s%s%s%s", run->model,
		 run->dataset[0] ? run->dataset : "unknown data", epochs, cut,
		 unusual_text(run).text);
}

static int has_extrapolated(const struct results *results,
			    const struct line *line)
{
	for (int t = 0; t < results->target_count; t++)
		if (isfinite(line->cells[t].whole_epoch_s))
			return 1;
	return 0;
}

/* What was trained, how often, and what the signs behind the numbers are. */
static void fill_title(const struct view *view, const struct line *line,
		       char title[GRID_TITLE])
{
	const int named = setup_count(view->results) > 1 ||
			  line->run->label[0];
	const struct run *run = find_settings(view->results, line);
	const char *sign = plus_minus(view->options);
	char raw[GRID_TITLE], trained[320] = "no runs.csv", n[80], cut[120];

	cut_text(cut, sizeof(cut), view->results, line);
	if (run)
		trained_text(trained, sizeof(trained), run,
			     epochs_text(view->results, line).text, cut);
	if (line->repetitions == 1)
		snprintf(n, sizeof(n), "n=1, %s between iterations", sign);
	else
		snprintf(n, sizeof(n), "n=%d, %s between runs%s",
			 line->repetitions, sign,
			 has_interval(view->results, line) ? ", [95 %]" : "");
	snprintf(raw, sizeof(raw), "%s%s%s%s; %s",
		 named ? setup_name(line) : "", named ? ": " : "", trained,
		 view->results->include_warmup ? ", warm-up included" : "", n);
	clean_text(title, GRID_TITLE, raw, view->options);
}

static int draw_setup(const struct view *view, const struct line *line,
		      struct error *err)
{
	const struct scale scale = view_scale(view, METRIC_ITER);
	const char *const heads[HEADS] = {
		[ITER] = scale.factor > 1 ? "ms/iter" : "s/iter",
		[EPOCH] = has_extrapolated(view->results, line) ?
				  "s/whole\nepoch" : "s/epoch",
		[RATE] = "images/s",
		[UPDATES] = "updates x\nglobal batch",
		[ACCURACY] = "accuracy",  [SETUP] = "start-up",
		[CPUS] = "CPUs",
	};
	struct grid grid;
	int row = 0;

	if (grid_make(&grid, HEADS, view->results->target_count, err))
		return -1;
	grid.unmarked = 1;
	fill_title(view, line, grid.title);
	snprintf(grid.corner, GRID_TITLE, "target");
	grid_set_heads(&grid, heads);
	for (int t = 0; t < view->results->target_count; t++)
		if (line->cells[t].run)
			fill_row(view, &grid, row++, &line->cells[t], scale);
	grid.rows = row;
	grid_draw(&grid, view->options, view->out);
	grid_free(&grid);
	return 0;
}

static int has_device(const struct view *view, const struct line *line,
		      int target)
{
	const struct run *run = line->cells[target].run;

	return run && run_is_on_devices(run) && view->devices[target][0];
}

/* The device of a target that is compared with none. */
static void print_devices(const struct view *view, const struct line *line)
{
	for (int t = 0; t < view->results->target_count; t++)
		if (has_device(view, line, t))
			print_paragraph(view->out, view->options, "%s is %s.",
					view->results->targets[t],
					view->devices[t]);
}

/* The speed-up; over another target than one core a cell has none, and this is
 * the means' ratio, without an interval. */
static struct stats ratio_of(const struct result *cell,
			     const struct result *base, int is_speedup)
{
	if (is_speedup || !cell->values[METRIC_RATE].count)
		return cell->values[METRIC_SPEEDUP];
	return stats_single(cell->values[METRIC_RATE].mean /
			    base->values[METRIC_RATE].mean);
}

/* What is said of how fast the targets of a line are, and what is not. */
struct claims {
	char made[1536];    /* "cpu-8 is 1.84 times as fast as cpu-1, ..." */
	char refused[1024]; /* "cpu-8, opencl, since cpu-1 was disturbed" */
	char names[512], doubt[160]; /* that come into refused next */
};

/* "opencl (PoCL, 2 CPUs)" */
static void append_name(char *text, size_t size, const struct view *view,
			const struct line *line, int target)
{
	const int has = has_device(view, line, target);

	text_append(text, size, "%s%s%s%s", view->results->targets[target],
		    has ? " (" : "", has ? view->devices[target] : "",
		    has ? ")" : "");
}

/* "opencl (PoCL, 2 CPUs) is 1.84 times as fast as cpu-1 [1.81, 1.87]"; base
 * and "as fast as" only in the first claim. counted: a ratio that has no
 * interval says of how many runs it is. */
static void add_claim(struct claims *claims, const struct view *view,
		      const struct line *line, int target,
		      const struct stats *ratio, const char *base, int counted)
{
	const size_t size = sizeof(claims->made);
	const double half = stats_shown_half_width(ratio);
	const int is_first = !claims->made[0];

	text_append(claims->made, size, "%s", is_first ? "" : ", ");
	append_name(claims->made, size, view, line, target);
	text_append(claims->made, size, "%s %s times%s%s",
		    is_first ? " is" : "", fixed_text(ratio->mean, 2).text,
		    is_first ? " as fast as " : "", is_first ? base : "");
	if (isfinite(half))
		text_append(claims->made, size, " %s",
			    interval_text(ratio->mean - half,
					  ratio->mean + half, 2).text);
	else if (counted)
		text_append(claims->made, size, " (n=%d)",
			    line->cells[target].runs);
}

static void end_refused(struct claims *claims)
{
	if (claims->names[0])
		text_append(claims->refused, sizeof(claims->refused),
			    "%s%s, since %s", claims->refused[0] ? "; " : "",
			    claims->names, claims->doubt);
	claims->names[0] = '\0';
}

/* Targets with the same doubt after each other share its text. */
static void add_refused(struct claims *claims, const struct view *view,
			const struct line *line, int target, const char *doubt)
{
	if (strcmp(claims->doubt, doubt) != 0)
		end_refused(claims);
	snprintf(claims->doubt, sizeof(claims->doubt), "%s", doubt);
	text_append(claims->names, sizeof(claims->names), "%s",
		    claims->names[0] ? ", " : "");
	append_name(claims->names, sizeof(claims->names), view, line, target);
}

/* base: NULL if no target has a rate. */
static void make_claims(struct claims *claims, const struct view *view,
			const struct line *line, const struct result *base,
			int is_speedup, int counted)
{
	char doubt[sizeof(claims->doubt)];

	for (int t = 0; base && t < view->results->target_count; t++) {
		const struct result *cell = &line->cells[t];
		const struct stats ratio = ratio_of(cell, base, is_speedup);

		if (cell == base || !ratio.count)
			continue;
		ratio_doubt_text(doubt, sizeof(doubt), line, cell, base,
				 &ratio);
		if (doubt[0])
			add_refused(claims, view, line, t, doubt);
		else
			add_claim(claims, view, line, t, &ratio,
				  base->run->target, counted);
	}
	end_refused(claims);
}

static void print_ratios(const struct view *view, const struct line *line)
{
	const struct result *one = line_base(view->results, line);
	const struct result *base = one ? one :
					  line_first_rate(view->results, line);
	const char *differ = work_differs(view->results, line);
	/* Intervals are of speed-ups over one core, from three runs on. */
	const int counted = one && line->repetitions > 2;
	struct claims claims = { .made = "" };
	char runs[32] = "";

	make_claims(&claims, view, line, base, one != NULL, counted);
	if (line->repetitions == 1)
		snprintf(runs, sizeof(runs), " (one run each)");
	else if (!counted)
		snprintf(runs, sizeof(runs), " (%d runs each)",
			 line->repetitions);
	if (claims.made[0])
		print_paragraph(view->out, view->options, "In images/s%s, "
				"%s%s%s%s.", runs, claims.made,
				differ ? "; " : "", differ ? differ : "",
				differ ? ": compare accuracy too" : "");
	if (claims.refused[0])
		print_paragraph(view->out, view->options, "Not compared with "
				"%s: %s.", base->run->target, claims.refused);
	if (!claims.made[0] && !claims.refused[0])
		print_devices(view, line);
}

/* What the title cannot say of this run alone; returns how many lines. */
static int warn_run(const struct view *view, const struct run *run,
		    struct names *told)
{
	char text[7][320] = { "" };
	int count = 0;

	if (post_data_differs(run))
		snprintf(text[0], sizeof(text[0]), "the data set is %s, not "
			 "MNIST", run->dataset);
	if (!strcmp(run->kernels, "cold"))
		snprintf(text[1], sizeof(text[1]), "%s: a cold start, which "
			 "compiled its kernels", run->target);
	if (run_is_ahead(run))
		snprintf(text[2], sizeof(text[2]), "%s: s/iter is the epoch's "
			 "mean (--sync epoch)", run->target);
	run_explain_slowdown(run, text[3], sizeof(text[3]));
	if (!strcmp(run->dataset, "fake") && isfinite(run->final_accuracy_pct))
		snprintf(text[4], sizeof(text[4]), "the data set fake is "
			 "one batch that comes again: accuracy and loss say "
			 "nothing");
	if (run->weights[0])
		snprintf(text[5], sizeof(text[5]), "%s the weights of a file "
			 "(--weights), SHA-256 %.16s...",
			 run_is_inference(run) ? "computed with" :
						 "training began with",
			 run->weights);
	if (run_has_hosts(run))
		snprintf(text[6], sizeof(text[6]), "%s was on the hosts %.240s",
			 run->target, run->hosts);
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		count += note_once(view, told, text[i]);
	return count;
}

static int print_warnings(const struct view *view)
{
	const struct results *results = view->results;
	struct names told = { 0 };
	char text[1024];
	int count;

	disturbed_text(results, text, sizeof(text));
	count = note_once(view, &told, text);
	results_short_text(results, text, sizeof(text));
	if (text[0])
		text_append(text, sizeof(text), "; s/epoch (~) is "
			    "extrapolated");
	count += note_once(view, &told, text);
	results_tested_text(results, text, sizeof(text));
	count += note_once(view, &told, text);
	results_long_test_text(results, text, sizeof(text));
	count += note_once(view, &told, text);
	results_rising_loss_text(results, text, sizeof(text));
	count += note_once(view, &told, text);
	for (size_t i = 0; i < results->run_count; i++)
		count += warn_run(view, &results->runs[i], &told);
	names_free(&told);
	for (int i = 0; i < results->line_count; i++)
		if (line_is_setup(&results->lines[i]))
			count += view_differing_losses(view,
						       &results->lines[i]);
	return count + notes_outcomes(view);
}

static void print_where(const struct view *view)
{
	const char *where = view->options->where;
	const struct results *results = view->results;
	struct names told = { 0 };
	char command[2 * PATH_MAX];

	for (int i = 0; i < results->line_count; i++)
		if (line_is_setup(&results->lines[i]) &&
		    !line_is_inference(&results->lines[i]))
			view_verified(view, &results->lines[i], &told);
	names_free(&told);
	if (!where)
		return;
	words_command(command, sizeof(command), "table", NULL);
	view_note(view, "more: %s %s --details", command, where);
	words_command(command, sizeof(command), "plot", NULL);
	if (view->options->is_folder)
		view_note(view, "pictures: %s %s", command, where);
}

int view_targets(const struct view *view, struct error *err)
{
	const struct results *results = view->results;
	const int quiet = view->options->quiet;

	if (!quiet && print_warnings(view))
		fputc('\n', view->out);
	for (int i = 0; i < results->line_count; i++) {
		const struct line *line = &results->lines[i];

		if (!line_is_setup(line))
			continue;
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
