#include "bench/report/table_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/system/text.h"

enum { MOST_LABEL = 24, MOST_DEVICE = 18, SUFFIX_SIZE = 24 };

const struct result *next_column(const struct view *view,
				 const struct line *line, int *next)
{
	while (*next < line->target_count) {
		const struct result *cell =
			&line->cells[view->order[(*next)++]];

		if (cell->run)
			return cell;
	}
	return NULL;
}

static int contains(const char *text, const char *word)
{
	return strcasestr(text, word) != NULL;
}

/* Writes the part of the CPU that a device has: its units, at most one per CPU.
 * Old rows have no units. */
static void size_text(const struct run *run, char *text, size_t size)
{
	const long cpus = run->cpus, units = run->device_units;
	const int fits = units != CELL_NO_INT && units <= cpus;
	const long count = fits || cpus == CELL_NO_INT ? units : cpus;

	if (count == CELL_NO_INT)
		snprintf(text, size, "a CPU");
	else if (units != CELL_NO_INT && units > count)
		snprintf(text, size, "%ld units on %s", units,
			 count_text(count, "CPU").text);
	else
		snprintf(text, size, "%s", count_text(count, "CPU").text);
}

/* PoCL's devices are named after the CPU; that it is PoCL matters more. */
static void device_text(const struct run *run, char text[GRID_TEXT])
{
	char name[GRID_TEXT], size[64], several[32] = "";

	text[0] = '\0';
	if (contains(run->device_driver, "pocl") ||
	    contains(run->device_name, "pocl") ||
	    contains(run->device_driver, "Portable Computing Language"))
		snprintf(name, sizeof(name), "PoCL");
	else
		snprintf(name, sizeof(name), "%s", run->device_name);
	if (!name[0])
		return;
	text_cut(name, MOST_DEVICE);
	if (run_is_on_devices(run) && run->cores > 1)
		snprintf(several, sizeof(several), ", %ld %s", run->cores,
			 run_cores_name(run));
	size_text(run, size, sizeof(size));
	if (!contains(run->device_type, "CPU"))
		snprintf(text, GRID_TEXT, "%.100s%s", name, several);
	else
		snprintf(text, GRID_TEXT, "%.60s, %s%s", name, size, several);
}

/* The device that all runs of a target had; empty if unknown, "several" if not
 * one. */
int view_find_devices(struct view *view, struct error *err)
{
	const struct results *results = view->results;
	const struct result *cell;
	char each[GRID_TEXT], *text;

	view->devices = calloc((size_t)results->target_count + 1,
			       sizeof(*view->devices));
	if (!view->devices)
		return error_memory(err, "a table");
	for (int at = 0; (cell = next_cell(results, &at));) {
		if (!cell->run)
			continue;
		device_text(cell->run, each);
		text = view->devices[cell - cell->line->cells];
		if (text[0] && each[0] && strcmp(text, each) != 0)
			snprintf(text, GRID_TEXT, "several");
		else if (each[0])
			memcpy(text, each, sizeof(each));
	}
	return 0;
}

/* Returns the cores of a target that the post has too; otherwise 0. */
static long count_cores(const char *target)
{
	const char *dash = strchr(target, '-');
	char *end;
	long cores;

	if (!dash)
		return 0;
	cores = strtol(dash + 1, &end, 10);
	for (int i = 0; !*end && i < post_figure_count; i++)
		if (!strncmp(post_figures[i].target, target,
			     (size_t)(dash + 1 - target)))
			return cores;
	return 0;
}

const struct run *target_run(const struct results *results, int target)
{
	const struct run *run = NULL;

	for (int i = 0; i < results->line_count && !run; i++)
		run = results->lines[i].cells[target].run;
	return run;
}

struct title_text target_title(const struct view *view, int target)
{
	const char *name = view->results->targets[target];
	const char *device = view->devices[target];
	const struct run *run = target_run(view->results, target);
	const long cores = count_cores(name);
	struct title_text title;

	if (run && run_is_on_devices(run))
		snprintf(title.text, sizeof(title.text), "%s%s%s",
			 strpbrk(name, "-:@+") ? name : "OpenCL",
			 device[0] ? ": " : "", device);
	else
		snprintf(title.text, sizeof(title.text), "%s", cores > 0 ?
			 count_text(cores, "core").text : name);
	return title;
}

int view_grid(const struct view *view, struct grid *grid, int rows,
	      struct error *err)
{
	if (grid_make(grid, NULL, view->results->target_count, rows, err))
		return -1;
	for (int c = 0; c < grid->columns; c++)
		clean_text(grid->heads[c], GRID_TEXT,
			   target_title(view, view->order[c]).text,
			   view->options);
	return 0;
}

int target_grid(const struct view *view, struct grid *grid,
		const char *const *heads, int columns, struct error *err)
{
	if (grid_make(grid, heads, columns,
		      view->results->target_count + POST_MOST_ROWS, err))
		return -1;
	grid->unmarked = 1;
	grid->rows = 0;
	snprintf(grid->corner, GRID_TITLE, "target");
	return 0;
}

void target_grid_title(const struct view *view, struct grid *grid,
		       const struct line *line, const char *done,
		       const char *cut, const char *spread)
{
	const struct run *run = find_settings(line);
	const int named = setup_count(view->results) > 1 ||
			  line->run->label[0];
	char raw[GRID_TITLE], what[320] = "no runs.csv";

	if (run)
		snprintf(what, sizeof(what), "%s on %s%s%.40s%s%s", run->model,
			 run->dataset[0] ? run->dataset : "unknown data",
			 done[0] ? ", " : "", done, cut,
			 unusual_text(run).text);
	snprintf(raw, sizeof(raw), "%s%s%s%s; n=%d%s",
		 named ? setup_name(line) : "", named ? ": " : "", what,
		 view->results->include_warmup ? ", warm-up included" : "",
		 line->repetitions, spread);
	clean_text(grid->title, GRID_TITLE, raw, view->options);
}

void range_add(struct range *range, long count)
{
	if (count == CELL_NO_INT || count < 1)
		return;
	if (!range->most || count < range->least)
		range->least = count;
	if (count > range->most)
		range->most = count;
}

struct short_text count_text(long count, const char *unit)
{
	struct short_text text;

	snprintf(text.text, sizeof(text.text), "%ld %s%s", count, unit,
		 count == 1 ? "" : unit[strlen(unit) - 1] == 's' ? "es" : "s");
	return text;
}

struct short_text range_text(const struct range *range, const char *unit)
{
	const struct short_text most = count_text(range->most, unit);
	struct short_text text = { "" };

	if (range->least < range->most)
		snprintf(text.text, sizeof(text.text), "%ld to %.100s",
			 range->least, most.text);
	return range->most && !text.text[0] ? most : text;
}

int setup_count(const struct results *results)
{
	return results->line_count ?
		       results->lines[results->line_count - 1].setup + 1 : 0;
}

const char *run_setup_name(const struct run *run)
{
	return run->label[0]	   ? run->label :
	       run->campaign_id[0] ? run->campaign_id :
				     "measured";
}

const char *setup_name(const struct line *line)
{
	return run_setup_name(line->run);
}

/* Writes the suffix of a setup's name: ", run 2". */
static void line_suffix(const struct line *line, char suffix[SUFFIX_SIZE])
{
	suffix[0] = '\0';
	if (line->repetition)
		snprintf(suffix, SUFFIX_SIZE, ", run %d", line->repetition);
	else if (line->repetitions > 1)
		snprintf(suffix, SUFFIX_SIZE, ", all %d", line->repetitions);
}

struct short_text line_name(const struct line *line)
{
	char suffix[SUFFIX_SIZE];
	struct short_text name;

	line_suffix(line, suffix);
	snprintf(name.text, sizeof(name.text), "%.95s%s", setup_name(line),
		 suffix);
	return name;
}

struct short_text line_prefix(const struct view *view, const struct line *line)
{
	struct short_text name = { "" };

	if (setup_count(view->results) > 1)
		snprintf(name.text, sizeof(name.text), "%.125s, ",
			 line_name(line).text);
	return name;
}

void view_label(const struct view *view, const struct line *line,
		const char *suffix, char label[GRID_TEXT])
{
	char name[GRID_TEXT - SUFFIX_SIZE], own[SUFFIX_SIZE];

	line_suffix(line, own);
	suffix = suffix ? suffix : own;
	clean_text(name, sizeof(name), setup_name(line), view->options);
	if (view->options->format == TABLE_PLAIN)
		text_cut(name, MOST_LABEL - (int)strlen(suffix));
	snprintf(label, GRID_TEXT, "%s%s", name, suffix);
}

struct scale view_scale(const struct view *view, enum metric metric)
{
	/* The post's tables are in seconds. Ours in its format are too, while
	 * three decimals show something. */
	const double seconds_from =
		view->options->format == TABLE_POST ? .010 : 1;
	const struct scale seconds = { 1, "s" }, milliseconds = { 1e3, "ms" };
	const struct result *cell;
	double slowest = 0;

	for (int at = 0; (cell = next_cell(view->results, &at));) {
		const struct stats *stats = &cell->values[metric];
		const double shown = is_skewed(stats) ? stats->median :
							stats->mean;

		if (stats->count && shown > slowest)
			slowest = shown;
	}
	return slowest > 0 && slowest < seconds_from ? milliseconds : seconds;
}

void view_fill_metric(const struct view *view, const struct grid *grid, int row,
		      const struct line *line, enum metric metric,
		      struct metric_format format)
{
	const double factor = format.factor;
	const struct result *cell;

	for (int c = 0; (cell = next_column(view, line, &c));) {
		const struct stats *stats = &cell->values[metric];
		struct grid_cell *to = grid_at(grid, row, c - 1);
		/* Counts have no spread. */
		const double spread = stats->count > 1 && format.decimals ?
					      stats->std * factor : NAN;

		if (!stats->count)
			continue;
		if (format.quartiles && is_skewed(stats))
			format_quartiles(to->text, stats, factor,
					 format.decimals, view->options);
		else
			format_spread(to->text, stats->mean * factor, spread,
				      format.decimals, view->options);
		/* A run that was cut short cannot be the best, nor can a single
		 * run: the spread between runs is not known. */
		if (!line_is_setup(line) || line->repetitions == 1 ||
		    cell->outcome != OUTCOME_OK)
			continue;
		to->value = stats->mean;
		to->half = stats_shown_half_width(stats);
	}
	grid_mark_best(grid, row, metric_kinds[metric].better);
}

static int all_compare(const struct results *results, int target,
		       post_compares *compares)
{
	int count = 0;

	for (int i = 0; i < results->line_count; i++) {
		const struct run *run = results->lines[i].cells[target].run;

		if (run && !compares(run))
			return 0;
		count += run != NULL;
	}
	return count > 0;
}

const struct post_figure *find_post(const struct view *view, const char *setup,
				    int target, post_compares *compares)
{
	for (int i = 0; i < post_figure_count; i++)
		if (!strcmp(post_figures[i].setup, setup) &&
		    !strcmp(post_figures[i].target,
			    view->results->targets[target]))
			return all_compare(view->results, target, compares) ?
				       &post_figures[i] : NULL;
	return NULL;
}

int has_post(const struct view *view, post_compares *compares)
{
	for (int target = 0; view->options->with_post &&
			     target < view->results->target_count; target++)
		if (find_post(view, post_figures[0].setup, target, compares))
			return 1;
	return 0;
}

void grid_set_cpus(const struct grid *grid, int row, int column,
		   const struct run *run)
{
	const double cpus = run_cpus(run);

	grid_set_number(grid, row, column, cpus, cpus == floor(cpus) ? 0 : 2);
}

void fill_target_row(struct grid *grid, const struct result *cell, int outcome,
		     int setup, const struct table_options *options)
{
	const struct stats *setup_s = &cell->values[METRIC_SETUP];
	const int row = grid->rows++;
	char label[GRID_TEXT];

	snprintf(label, sizeof(label), "%s%s", cell->run->target,
		 cell->outcome == OUTCOME_PARTIAL ? ", partial" : "");
	clean_text(grid->labels[row], GRID_TEXT, label, options);
	if (setup_s->count)
		snprintf(grid_at(grid, row, setup)->text, GRID_TEXT, "%s s",
			 fixed_text(setup_s->mean, 2).text);
	if (cell->outcome == OUTCOME_ERROR || cell->outcome == OUTCOME_SKIPPED)
		snprintf(grid_at(grid, row, outcome)->text, GRID_TEXT, "%s",
			 cell->outcome == OUTCOME_ERROR ? "failed" : "skipped");
}

void note_p99(const struct view *view, const struct line *line)
{
	const struct result *cell;

	for (int at = 0; (cell = next_cell(view->results, &at));) {
		if ((line && cell->line != line) ||
		    !line_is_setup(cell->line) ||
		    !cell->values[METRIC_P50].count ||
		    cell->values[METRIC_P99].count)
			continue;
		view_note(view, "p99: - if a run has fewer than %d %s, because "
			  "p99 is then close to the slowest", P99_FEWEST,
			  line ? "passes" : "iterations");
		return;
	}
}

void drop_doubtful(const struct results *results, char *text, size_t size)
{
	const int several = setup_count(results) > 1;
	const struct line *line;

	text[0] = '\0';
	for (int at = 0; (line = next_setup(results, &at));) {
		const struct result *base = line_base(line);

		for (int t = 0; base && t < line->target_count; t++) {
			struct result *cell = &line->cells[t];
			struct stats *speedup = &cell->values[METRIC_SPEEDUP];
			struct doubt doubt;

			if (cell == base || !speedup->count)
				continue;
			doubt = ratio_doubt(cell, base, speedup);
			if (!doubt.text[0])
				continue;
			text_list(text, size, "", "; ", "%s%s%s, since %s",
				  cell->run->target, several ? " of " : "",
				  several ? setup_name(line) : "", doubt.text);
			*speedup = stats_compute(NULL, 0);
			cell->values[METRIC_EFFICIENCY] = *speedup;
		}
	}
}
