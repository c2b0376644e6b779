#include "bench/report/table_view.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/system/text.h"

enum { MOST_LABEL = 24, MOST_DEVICE = 18, SUFFIX_SIZE = 24 };

void view_note(const struct view *view, const char *format, ...)
{
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	print_note(view->out, view->options, "%s", text);
}

int line_is_setup(const struct line *line)
{
	return line->repetition == 0;
}

const struct result *view_cell(const struct view *view, const struct line *line,
			       int column)
{
	return &line->cells[view->order[column]];
}

const struct result *next_cell(const struct results *results, int *next)
{
	const int targets = results->target_count, at = *next;

	if (at >= results->line_count * targets)
		return NULL;
	++*next;
	return &results->lines[at / targets].cells[at % targets];
}

const struct run *next_run(const struct results *results,
			   const struct line *line, int *next)
{
	const int targets = results->target_count;
	const struct line *lines;
	int count;

	lines = line_runs(line, &count);
	while (*next < count * targets) {
		const int at = (*next)++;
		const struct run *run = lines[at / targets]
					.cells[at % targets].run;

		if (run)
			return run;
	}
	return NULL;
}

static int contains(const char *text, const char *word)
{
	return strcasestr(text, word) != NULL;
}

/* How much of the CPU a device is: its units, as far as there are CPUs for
 * them. Old rows have no units. */
static void size_text(const struct run *run, char *text, size_t size)
{
	const long cpus = run->cpus, units = run->device_units;
	const int fits = units != CELL_NO_INT && units <= cpus;
	const long count = fits || cpus == CELL_NO_INT ? units : cpus;

	if (count == CELL_NO_INT)
		snprintf(text, size, "a CPU");
	else if (units != CELL_NO_INT && units > count)
		snprintf(text, size, "%ld units on %ld CPU%s", units, count,
			 count == 1 ? "" : "s");
	else
		snprintf(text, size, "%ld CPU%s", count, count == 1 ? "" : "s");
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
		text = view->devices[(at - 1) % results->target_count];
		if (text[0] && each[0] && strcmp(text, each) != 0)
			snprintf(text, GRID_TEXT, "several");
		else if (each[0])
			memcpy(text, each, sizeof(each));
	}
	return 0;
}

/* The cores of a target, if they are of the kind that the post compares; else
 * 0. */
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

static int is_on_devices(const struct results *results, int target)
{
	const struct run *run = NULL;

	for (int i = 0; i < results->line_count && !run; i++)
		run = results->lines[i].cells[target].run;
	return run && run_is_on_devices(run);
}

void target_title(const struct view *view, int target,
		  char title[2 * GRID_TEXT])
{
	const char *name = view->results->targets[target];
	const char *device = view->devices[target];
	const long cores = count_cores(name);

	if (is_on_devices(view->results, target))
		snprintf(title, 2 * GRID_TEXT, "%s%s%s",
			 strpbrk(name, "-:@+") ? name : "OpenCL",
			 device[0] ? ": " : "", device);
	else if (cores > 0)
		snprintf(title, 2 * GRID_TEXT, "%ld core%s", cores,
			 cores == 1 ? "" : "s");
	else
		snprintf(title, 2 * GRID_TEXT, "%s", name);
}

void view_head(const struct view *view, int column, char head[GRID_TEXT])
{
	char title[2 * GRID_TEXT];

	target_title(view, view->order[column], title);
	clean_text(head, GRID_TEXT, title, view->options);
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

struct short_text range_text(const struct range *range, const char *unit)
{
	const char *plural = range->most == 1 ? "" :
			     unit[strlen(unit) - 1] == 's' ? "es" : "s";
	struct short_text text = { "" };

	if (range->least < range->most)
		snprintf(text.text, sizeof(text.text), "%ld to %ld %s%s",
			 range->least, range->most, unit, plural);
	else if (range->most)
		snprintf(text.text, sizeof(text.text), "%ld %s%s", range->most,
			 unit, plural);
	return text;
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

/* Behind the name of a setup, what a line has of it: ", run 2". */
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
	/* The post's tables are in seconds; so are ours in its format while
	 * three decimals of them say something. */
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

void view_mark_best(const struct view *view, const struct grid *grid, int row,
		    const struct line *line, enum metric metric)
{
	/* What was cut short does not compete, nor does one run alone: nothing
	 * is known of how far apart its like are. */
	if (!line_is_setup(line) || line->repetitions == 1)
		return;
	for (int column = 0; column < grid->columns; column++) {
		const struct result *result = view_cell(view, line, column);
		const struct stats *stats = &result->values[metric];
		struct grid_cell *cell = grid_at(grid, row, column);

		if (result->outcome != OUTCOME_OK || !stats->count)
			continue;
		cell->value = stats->mean;
		cell->half = stats_shown_half_width(stats);
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

void fill_target_row(const struct grid *grid, int row,
		     const struct result *cell, int outcome, int setup,
		     const struct table_options *options)
{
	const struct stats *setup_s = &cell->values[METRIC_SETUP];
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
	const struct results *results = view->results;
	const struct result *cell;

	for (int at = 0; (cell = next_cell(results, &at));) {
		const struct line *each =
			&results->lines[(at - 1) / results->target_count];

		if ((line && each != line) || !line_is_setup(each) ||
		    !cell->values[METRIC_P50].count ||
		    cell->values[METRIC_P99].count)
			continue;
		view_note(view, "p99: - if a run has fewer than %d %s: the p99 "
			  "of so few is close to the slowest", P99_FEWEST,
			  line ? "passes" : "iterations");
		return;
	}
}

void drop_doubtful(struct results *results, char *text, size_t size)
{
	const int several = setup_count(results) > 1;
	char doubt[160];

	text[0] = '\0';
	for (int i = 0; i < results->line_count; i++) {
		const struct line *line = &results->lines[i];
		const struct result *base = line_base(results, line);

		for (int t = 0; base && t < results->target_count; t++) {
			struct result *cell = &line->cells[t];
			struct stats *speedup = &cell->values[METRIC_SPEEDUP];

			if (line->repetition || cell == base || !speedup->count)
				continue;
			ratio_doubt_text(doubt, sizeof(doubt), line, cell, base,
					 speedup);
			if (!doubt[0])
				continue;
			text_append(text, size, "%s%s%s%s, since %s",
				    text[0] ? "; " : "", cell->run->target,
				    several ? " of " : "",
				    several ? setup_name(line) : "",
				    doubt);
			*speedup = stats_compute(NULL, 0);
			cell->values[METRIC_EFFICIENCY] = *speedup;
		}
	}
}
