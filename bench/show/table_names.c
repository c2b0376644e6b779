#include "bench/show/table_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/system/text.h"

enum { MOST_LABEL = 24, MOST_DEVICE = 18 };

int line_is_setup(const struct line *line)
{
	return line->repetition == 0;
}

const struct result *view_cell(const struct view *view, const struct line *line,
			       int column)
{
	return &line->cells[view->order[column]];
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
	char each[GRID_TEXT], *text;
	const struct result *cell;
	int line, target;

	view->devices = calloc((size_t)results->target_count + 1,
			       sizeof(*view->devices));
	if (!view->devices)
		return error_memory(err, "a table");
	for (line = 0; line < results->line_count; line++)
		for (target = 0; target < results->target_count; target++) {
			cell = &results->lines[line].cells[target];
			if (!cell->run)
				continue;
			device_text(cell->run, each);
			text = view->devices[target];
			if (text[0] && each[0] && strcmp(text, each) != 0)
				snprintf(text, GRID_TEXT, "several");
			else if (each[0])
				memcpy(text, each, sizeof(each));
		}
	return 0;
}

void view_head(const struct view *view, int column, char head[GRID_TEXT])
{
	const char *target = view->results->targets[view->order[column]];
	const char *device = view->devices[view->order[column]];
	char text[2 * GRID_TEXT], *end;
	long cores;

	if (strncmp(target, "cpu-", 4) == 0) {
		cores = strtol(target + 4, &end, 10);
		if (*end == '\0' && cores > 0)
			snprintf(text, sizeof(text), "%ld core%s", cores,
				 cores == 1 ? "" : "s");
		else
			snprintf(text, sizeof(text), "%s", target);
	} else if (strncmp(target, "opencl", 6) == 0) {
		snprintf(text, sizeof(text), "%s%s%s",
			 strcmp(target, "opencl") ? target : "OpenCL",
			 device[0] ? ": " : "", device);
	} else {
		snprintf(text, sizeof(text), "%s", target);
	}
	clean_text(head, GRID_TEXT, text, view->options);
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

void line_suffix(const struct line *line, char suffix[GRID_SUFFIX])
{
	suffix[0] = '\0';
	if (line->repetition)
		snprintf(suffix, GRID_SUFFIX, ", run %d", line->repetition);
	else if (line->repetitions > 1)
		snprintf(suffix, GRID_SUFFIX, ", all %d", line->repetitions);
}

void view_label(const struct view *view, const struct line *line,
		char label[GRID_TEXT])
{
	char name[GRID_TEXT - GRID_SUFFIX], suffix[GRID_SUFFIX];

	clean_text(name, sizeof(name), setup_name(line), view->options);
	line_suffix(line, suffix);
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
	const struct results *results = view->results;
	const struct scale seconds = { 1, "s" }, milliseconds = { 1e3, "ms" };
	const struct stats *stats;
	double slowest = 0, shown;
	int line, target;

	for (line = 0; line < results->line_count; line++)
		for (target = 0; target < results->target_count; target++) {
			stats = &results->lines[line].cells[target]
					 .values[metric];
			shown = stats->std > stats->mean ? stats->median :
							   stats->mean;
			if (stats->count && shown > slowest)
				slowest = shown;
		}
	return slowest > 0 && slowest < seconds_from ? milliseconds : seconds;
}

struct contender contend(const struct line *line, const struct result *cell,
			 enum metric metric)
{
	const struct contender none = { NAN, NAN };

	/* What was cut short does not compete, nor does one run alone: nothing
	 * is known of how far apart its like are. */
	if (cell->outcome != OUTCOME_OK || !line_is_setup(line) ||
	    line->repetitions == 1 || !cell->values[metric].count)
		return none;
	return (struct contender){ cell->values[metric].mean,
				   stats_half_width(&cell->values[metric]) };
}

void mark_best(const struct grid *grid, int row,
	       const struct contender *contenders, int sign)
{
	const struct contender *best = NULL;
	int rivals = 0;

	for (int c = 0; c < grid->columns; c++)
		if (isfinite(contenders[c].value) &&
		    (!best || contenders[c].value * sign > best->value * sign))
			best = &contenders[c];
	for (int c = 0; c < grid->columns && best; c++) {
		if (&contenders[c] == best || isnan(contenders[c].value))
			continue;
		rivals++;
		/* An interval that is not known overlaps. */
		if (!((best->value - contenders[c].value) * sign >
		      best->half + contenders[c].half))
			return;
	}
	if (rivals)
		grid_at(grid, row, (int)(best - contenders))->best = 1;
}
