/* Prints the post's three tables: the loop, an iteration and an epoch. Notes
 * say what these times cover, how certain they are, and list their parts. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "bench/report/table_view.h"
#include "bench/system/text.h"

static const struct timing {
	enum metric metric, estimate; /* measured; on a host with more CPUs */
	const char *title, *cut, *per; /* cut: what cut epochs are called */
	post_compares *compares; /* with the post's */
	/* Offsets in struct post_figure; the loop has no spread. */
	size_t post_value, post_spread;
} timings[] = {
	{ METRIC_LOOP, METRIC_MODEL_LOOP, "Training loop",
	  "Training loop, epochs of ", "", post_compares_loop,
	  offsetof(struct post_figure, loop_s), 0 },
	{ METRIC_ITER, METRIC_MODEL_ITER, "One iteration", NULL, "/iter",
	  post_compares_iter, offsetof(struct post_figure, iter_s),
	  offsetof(struct post_figure, iter_std_s) },
	{ METRIC_EPOCH, METRIC_MODEL_EPOCH, "One epoch", "Epochs of ",
	  "/epoch", post_compares_epoch,
	  offsetof(struct post_figure, epoch_s),
	  offsetof(struct post_figure, epoch_std_s) },
};

static double member(const void *of, size_t offset)
{
	return *(const double *)((const char *)of + offset);
}

/* Is the metric of the line, of a whole setup, estimated? */
static int is_estimated(const struct line *line, enum metric estimate)
{
	const struct result *cell;

	for (int at = 0; line_is_setup(line) &&
			 (cell = next_target(line, &at));)
		if (cell->values[estimate].count)
			return 1;
	return 0;
}

static int count_estimated(const struct results *results, enum metric estimate)
{
	int count = 0;

	for (int i = 0; i < results->line_count; i++)
		count += is_estimated(&results->lines[i], estimate);
	return count;
}

static void fill_line(const struct view *view, const struct grid *grid, int row,
		      const struct line *line, enum metric metric,
		      struct scale scale)
{
	const struct result *cell;

	view_label(view, line, NULL, grid->labels[row]);
	view_fill_metric(view, grid, row, line, metric,
			 (struct metric_format){ scale.factor, 3, 1 });
	/* The times of --sync epoch are none of single iterations. */
	for (int c = 0; metric == METRIC_ITER &&
			(cell = next_column(view, line, &c));)
		if (cell->values[metric].count && run_is_ahead(cell->run))
			text_append(grid_at(grid, row, c - 1)->text, GRID_TEXT,
				    ", epoch's mean");
}

/* The estimates of all lines, from row on; returns the row after them. */
static int fill_estimates(const struct view *view, const struct grid *grid,
			  int row, const struct timing *timing,
			  struct scale scale)
{
	const struct results *results = view->results;

	for (int i = 0; i < results->line_count; i++) {
		const struct line *line = &results->lines[i];
		char *label = grid->labels[row];

		if (!is_estimated(line, timing->estimate))
			continue;
		fill_line(view, grid, row++, line, timing->estimate, scale);
		view_label(view, line, ", estimate", label);
		if (results->line_count == 1)
			snprintf(label, GRID_TEXT, "estimate");
	}
	return row;
}

/* The post gives three decimals of a second, so none of a millisecond. */
static void fill_post(const struct view *view, const struct grid *grid, int row,
		      const char *setup, const struct timing *timing,
		      struct scale scale)
{
	snprintf(grid->labels[row], GRID_TEXT, "post 002, %s", setup);
	for (int column = 0; column < grid->columns; column++) {
		const struct post_figure *figure =
			find_post(view, setup, view->order[column],
				  timing->compares);

		if (!figure)
			continue;
		format_spread(grid_at(grid, row, column)->text,
			      member(figure, timing->post_value) * scale.factor,
			      timing->post_spread ?
				      member(figure, timing->post_spread) *
					      scale.factor : NAN,
			      scale.factor > 1 ? 0 : 3, view->options);
	}
}

/* In Markdown, heads have the unit too. */
static void add_units(const struct grid *grid, const char *unit)
{
	for (int column = 0; column < grid->columns; column++) {
		text_cut(grid->heads[column], 90);
		text_append(grid->heads[column], GRID_TEXT, " (%s)", unit);
	}
}

/* The post's tables have no titles: the corner has the cut. */
static void fill_title(const struct view *view, const struct timing *timing,
		       const char *unit, struct grid *grid)
{
	char cut[200] = "", spread[32] = "";

	if (timing->cut)
		results_cut_text(view->results, cut, sizeof(cut));
	if (timing->per[0])
		snprintf(spread, sizeof(spread), ", mean (%s std)",
			 plus_minus(view->options));
	snprintf(grid->title, GRID_TITLE, "%s%s (%s)%s",
		 cut[0] ? timing->cut : timing->title, cut, unit, spread);
	snprintf(grid->corner, GRID_TITLE, "Campaign");
	if (cut[0] && view->options->format == TABLE_POST)
		snprintf(grid->corner, GRID_TITLE, "Campaign, epochs of %s",
			 cut);
}

/* Timing of a table's iterations. */
struct timed {
	int single, single_resident; /* setups' targets: each for itself */
	int ahead;		     /* an epoch's together */
	char names[512]; /* names of these runs, cut to the room */
};

static struct timed count_timed(const struct results *results)
{
	struct timed timed = { 0 };
	const struct result *cell;

	for (int at = 0; (cell = next_cell(results, &at));) {
		const int several = setup_count(results) > 1;

		if (!line_is_setup(cell->line) || !cell->run ||
		    !cell->values[METRIC_ITER].count)
			continue;
		if (!run_is_ahead(cell->run)) {
			timed.single++;
			timed.single_resident +=
				!strcmp(cell->run->resident, "yes");
			continue;
		}
		timed.ahead++;
		text_list(timed.names, sizeof(timed.names), "", ", ",
			  "%s%s%s", cell->run->target, several ? " of " : "",
			  several ? setup_name(cell->line) : "");
	}
	return timed;
}

/* Returns the warm-up steps of each run; -1 if they differ; CELL_NO_INT if no
 * run made an iteration. */
static long warmup_steps(const struct results *results)
{
	const struct result *cell;
	long steps = CELL_NO_INT;

	for (int at = 0; (cell = next_cell(results, &at));) {
		const long each = (long)cell->warmup_steps;

		if (cell->runs != 1 || !cell->values[METRIC_ITER].count)
			continue;
		if (steps != CELL_NO_INT && steps != each)
			return -1;
		steps = each;
	}
	return steps;
}

static void note_warmup(const struct view *view, const struct timed *timed)
{
	const int included = view->results->include_warmup && timed->single;
	const char *what = included && timed->ahead ?
				   "included, but in no epoch's mean" :
			   included ? "included" : "excluded";
	const long steps = warmup_steps(view->results);

	if (steps == CELL_NO_INT)
		return;
	if (steps == 0)
		view_note(view, "no warm-up: the first iterations, which are "
			  "slower, are in the mean");
	else if (steps > 0)
		view_note(view, "warm-up: %s a run, %s",
			  count_text(steps, "step").text, what);
	else
		view_note(view, "warm-up steps (not the same number "
			  "everywhere): %s", what);
}

static void note_iterations(const struct view *view)
{
	const struct timed timed = count_timed(view->results);
	const char *resident = timed.single_resident ?
		"; gathering and normalising a data set on the device is" : "";

	if (timed.single || !timed.ahead)
		view_note(view, "an iteration lasts from the batch in host "
			  "memory to updated parameters, with the device "
			  "finished. Waiting for the loader is not included%s. "
			  "With several cores, it lasts from the start of the "
			  "first to the end of the last. %s is the spread of "
			  "the iterations of one process",
			  resident, plus_minus(view->options));
	if (timed.ahead)
		view_note(view, "%s%sepoch's mean (--sync epoch): the device "
			  "runs ahead within an epoch, so a single iteration "
			  "has no time. The time from the epoch's first batch "
			  "to its last updated parameters, with the device "
			  "finished, is divided by its iterations. Waiting for "
			  "the first batch is not included; gathering and "
			  "normalising the data set on the device is",
			  timed.single ? timed.names : "",
			  timed.single ? ": " : "");
	note_warmup(view, &timed);
}

static void note_covered(const struct view *view, enum metric metric)
{
	if (metric == METRIC_LOOP)
		view_note(view, "from just before epoch 1 to the end of the "
			  "last epoch, with the tests; start-up is not "
			  "included");
	else if (metric == METRIC_ITER)
		note_iterations(view);
	else
		view_note(view, "an epoch is its iterations, the loader, the "
			  "test and the schedule; %s is the spread "
			  "of the epochs of one process",
			  plus_minus(view->options));
}

/* Up to this number of cores, the estimate was within 10 % of a host with a
 * free CPU per core: see results/README.md. */
#define ESTIMATE_CHECKED_CORES 2

static void note_estimate(const struct view *view)
{
	view_note(view, "estimate: the times of a host with a free CPU per "
		  "core. It adds the slowest core's CPU times in compute, "
		  "reduce and update, in the test and in the loader. Shared "
		  "caches and memory are left out. It was within 10 %% of such "
		  "hosts, checked up to %d cores", ESTIMATE_CHECKED_CORES);
}

static int shows_quartiles(const struct results *results, enum metric metric)
{
	const struct result *cell;

	for (int at = 0; (cell = next_cell(results, &at));)
		if (cell->values[metric].count &&
		    is_skewed(&cell->values[metric]))
			return 1;
	return 0;
}

/* Parts of a run, in columns of runs.csv. */
enum { UNACCOUNTED = 4, TOTAL, WARMUP, PARTS };

static const struct {
	const char *column, *before; /* in the sum */
} part_names[PARTS] = {
	{ "setup_s", "start-up" },
	{ "loader_s", " + loader" },
	{ "iterations_s", " + iterations" },
	{ "test_s", " + test" },
	[UNACCOUNTED] = { "unaccounted_s", " + unaccounted" },
	[TOTAL] = { "total_s", " = total" },
	[WARMUP] = { "warmup_s", " s, plus warm-up" },
};

static double part_of(const struct run *run, int part)
{
	return cell_real(row_column(&run_rows, part_names[part].column), run);
}

/* 1 if the driver had the kernels in its cache. */
static const char *const kernel_states[] = { "cold", "warm" };
enum { KERNEL_STATES = 2 };

/* Over the finished runs of a target in a setup. */
struct parts {
	double mean[PARTS]; /* sums at first */
	int runs;
	double compile_s[KERNEL_STATES];
	int compiled[KERNEL_STATES]; /* runs */
};

static int has_parts(const struct run *run)
{
	for (int p = 0; p < WARMUP; p++)
		if (!isfinite(part_of(run, p)))
			return 0;
	return strcmp(run->status, "ok") == 0;
}

static void add_run(struct parts *parts, const struct run *run)
{
	parts->runs++;
	for (int p = 0; p < PARTS; p++)
		parts->mean[p] += part_of(run, p);
	for (int k = 0; k < KERNEL_STATES; k++)
		if (!strcmp(run->kernels, kernel_states[k])) {
			parts->compile_s[k] += run->compile_s;
			parts->compiled[k]++;
		}
}

static struct parts parts_of(const struct result *cell)
{
	struct parts parts = { 0 };
	const struct result *each;

	for (int at = 0; (each = next_repetition(cell, &at));)
		if (each->run && has_parts(each->run))
			add_run(&parts, each->run);
	for (int p = 0; p < PARTS && parts.runs; p++)
		parts.mean[p] /= parts.runs;
	for (int k = 0; k < KERNEL_STATES; k++)
		if (parts.compiled[k])
			parts.compile_s[k] /= parts.compiled[k];
	return parts;
}

static void note_parts(const struct view *view, const struct result *cell)
{
	const int target = (int)(cell - cell->line->cells);
	const struct parts parts = parts_of(cell);
	const double *mean = parts.mean;
	char sum[400] = "", kernels[160] = "";

	if (!parts.runs)
		return;
	for (int p = 0; p < WARMUP + (mean[WARMUP] > 0); p++)
		text_append(sum, sizeof(sum), "%s %s", part_names[p].before,
			    fixed_text(mean[p], 3).text);
	for (int k = 0; k < KERNEL_STATES; k++)
		if (parts.compiled[k])
			text_list(kernels, sizeof(kernels), "; compiling "
				  "kernels, in start-up: ", ", ", "%s s %s",
				  fixed_text(parts.compile_s[k], 3).text,
				  kernel_states[k]);
	view_note(view, "%s%s: %s s%s%s", line_prefix(view, cell->line).text,
		  target_title(view, target).text, sum, kernels,
		  fabs(mean[UNACCOUNTED]) > .01 * mean[TOTAL] ?
			  "; unaccounted is more than 1 %" : "");
}

void note_interval(const struct view *view, const struct line *line,
		   enum metric metric, struct scale scale)
{
	const struct result *cell;
	char list[1200] = "";

	if (!line_is_setup(line) || line->repetitions == 1)
		return;
	for (int c = 0; (cell = next_column(view, line, &c));) {
		const struct stats *stats = &cell->values[metric];
		const double half = stats_shown_half_width(stats);

		if (!isfinite(half))
			continue;
		text_list(list, sizeof(list), "", ", ", "%s n=%zu %s",
			  target_title(view, view->order[c - 1]).text,
			  stats->count,
			  interval_text((stats->mean - half) * scale.factor,
					(stats->mean + half) * scale.factor,
					3).text);
	}
	if (list[0])
		view_note(view, "%s: mean over runs (%s spread across runs), "
			  "95 %% t interval of the mean (%s): %s",
			  line_name(line).text, plus_minus(view->options),
			  scale.name, list);
}

static void print_notes(const struct view *view, enum metric metric,
			struct scale scale)
{
	const struct result *cell;
	const struct line *line;

	note_covered(view, metric);
	if (shows_quartiles(view->results, metric))
		view_note(view, "median [q1, q3] where the deviation is larger "
			  "than the mean");
	for (int at = 0; (line = next_setup(view->results, &at));) {
		note_interval(view, line, metric, scale);
		for (int c = 0; metric == METRIC_LOOP &&
				(cell = next_column(view, line, &c));)
			note_parts(view, cell);
	}
}

static int draw_timing(const struct view *view, const struct timing *timing,
		       struct error *err)
{
	static const char *const post_setups[] = { "example", "Colab" };
	const struct results *results = view->results;
	const struct scale scale = view_scale(view, timing->metric);
	const int lines = results->line_count;
	const int estimates = count_estimated(results, timing->estimate);
	const int posts = has_post(view, timing->compares) ? 2 : 0;
	struct grid grid;
	char unit[32];
	int row;

	if (view_grid(view, &grid, lines + estimates + posts, err))
		return -1;
	snprintf(unit, sizeof(unit), "%s%s", scale.name, timing->per);
	fill_title(view, timing, unit, &grid);
	if (view->options->format != TABLE_PLAIN)
		add_units(&grid, unit);
	for (row = 0; row < lines; row++)
		fill_line(view, &grid, row, &results->lines[row],
			  timing->metric, scale);
	row = fill_estimates(view, &grid, row, timing, scale);
	for (int p = 0; p < posts; p++)
		fill_post(view, &grid, row++, post_setups[p], timing, scale);
	grid_end(&grid, view->options, view->out);
	print_notes(view, timing->metric, scale);
	if (estimates && timing->metric == METRIC_LOOP)
		note_estimate(view);
	fputc('\n', view->out);
	return 0;
}

int view_timings(const struct view *view, struct error *err)
{
	for (size_t i = 0; i < sizeof(timings) / sizeof(timings[0]); i++)
		if (draw_timing(view, &timings[i], err))
			return -1;
	return 0;
}
