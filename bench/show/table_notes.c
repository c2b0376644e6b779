#include "bench/show/table_view.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "bench/system/number.h"

/* A sentence that is put together; what does not fit is left out. */
struct sentence {
	char text[1536];
};

static void add(struct sentence *sentence, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add(struct sentence *sentence, const char *format, ...)
{
	size_t length = strlen(sentence->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence->text + length, sizeof(sentence->text) - length,
		  format, arguments);
	va_end(arguments);
}

static void add_number(struct sentence *sentence, const char *before,
		       double value, int decimals)
{
	char number[NUMBER_SIZE];

	number_print_fixed(number, value, decimals);
	add(sentence, "%s%s", before, number);
}

static void print_sentence(const struct view *view,
			   const struct sentence *sentence)
{
	print_note(view->out, view->options, "%s", sentence->text);
}

/* A head as in the tables; notes are cleaned as a whole, so it is not. */
static void raw_head(const struct view *view, int column, char head[GRID_TEXT])
{
	const struct table_options options = { .format = TABLE_PLAIN,
					       .utf8 = 1 };
	const struct view raw = { view->results, &options, view->order,
				  view->devices, NULL };

	view_head(&raw, column, head);
}

/* Means over the finished runs of a target in a setup. */
struct parts {
	double setup_s, loader_s, iterations_s, test_s, unaccounted_s, total_s;
	double warmup_s;
	int runs;
	struct {
		double compile_s;
		int runs;
	} kernels[2]; /* as kernel_states has them */
};

static const char *const kernel_states[] = { "cold", "warm" };

static int has_parts(const struct run *run)
{
	return isfinite(run->setup_s + run->loader_s + run->iterations_s +
			run->test_s + run->unaccounted_s + run->total_s) &&
	       strcmp(run->status, "ok") == 0;
}

static struct parts parts_of(const struct line *line, int target)
{
	struct parts sum = { 0 };
	const struct line *lines;
	const struct run *run;
	int i, count;

	lines = line_runs(line, &count);
	for (i = 0; i < count; i++) {
		run = lines[i].cells[target].run;
		if (!run || !has_parts(run))
			continue;
		sum.runs++;
		sum.setup_s += run->setup_s;
		sum.loader_s += run->loader_s;
		sum.iterations_s += run->iterations_s;
		sum.test_s += run->test_s;
		sum.unaccounted_s += run->unaccounted_s;
		sum.total_s += run->total_s;
		sum.warmup_s += run->warmup_s;
		for (int k = 0; k < 2; k++)
			if (!strcmp(run->kernels, kernel_states[k])) {
				sum.kernels[k].compile_s += run->compile_s;
				sum.kernels[k].runs++;
			}
	}
	return sum;
}

/* Means, by whether the driver had kept what it compiled. */
static void add_kernels(struct sentence *sentence, const struct parts *sum)
{
	const char *before = "; setup has compiling kernels: ";

	for (int k = 0; k < 2; k++) {
		if (!sum->kernels[k].runs)
			continue;
		add_number(sentence, before, sum->kernels[k].compile_s /
			   sum->kernels[k].runs, 3);
		add(sentence, " s %s", kernel_states[k]);
		before = ", ";
	}
}

static void note_parts(const struct view *view, const struct line *line,
		       int column)
{
	struct parts sum = parts_of(line, view->order[column]);
	struct sentence sentence = { "" };
	char head[GRID_TEXT], suffix[GRID_SUFFIX];
	double n = sum.runs;

	if (!sum.runs)
		return;
	raw_head(view, column, head);
	line_suffix(line, suffix);
	if (setup_count(view->results) > 1)
		add(&sentence, "%s%s, ", setup_name(line), suffix);
	add(&sentence, "%s", head);
	add_number(&sentence, ": setup ", sum.setup_s / n, 3);
	add_number(&sentence, " + loader ", sum.loader_s / n, 3);
	add_number(&sentence, " + iterations ", sum.iterations_s / n, 3);
	add_number(&sentence, " + test ", sum.test_s / n, 3);
	add_number(&sentence, " + unaccounted ", sum.unaccounted_s / n, 3);
	add_number(&sentence, " = total ", sum.total_s / n, 3);
	add(&sentence, " s");
	if (sum.warmup_s > 0)
		add_number(&sentence, "; seconds of warm-up besides: ",
			   sum.warmup_s / n, 3);
	add_kernels(&sentence, &sum);
	if (fabs(sum.unaccounted_s) > .01 * sum.total_s)
		add(&sentence, "; unaccounted is more than 1 %%");
	print_sentence(view, &sentence);
}

/* What can be said of the mean over processes, for each setup that was
 * repeated. */
static void note_intervals(const struct view *view, const struct line *line,
			   enum metric metric, double factor, const char *unit)
{
	struct sentence sentence = { "" };
	char head[GRID_TEXT], suffix[GRID_SUFFIX];
	const struct stats *stats;
	int column, count = 0;
	double half;

	if (!line_is_setup(line) || line->repetitions == 1)
		return;
	line_suffix(line, suffix);
	add(&sentence, "%s%s: mean over runs (%s spread across runs), 95 %% t "
	    "interval of the mean (%s): ", setup_name(line), suffix,
	    plus_minus(view->options), unit);
	for (column = 0; column < view->results->target_count; column++) {
		stats = &view_cell(view, line, column)->values[metric];
		half = stats_half_width(stats);
		if (!isfinite(half))
			continue;
		raw_head(view, column, head);
		add(&sentence, "%s%s n=%zu", count++ ? ", " : "", head,
		    stats->count);
		add_number(&sentence, " [", (stats->mean - half) * factor, 3);
		add_number(&sentence, ", ", (stats->mean + half) * factor, 3);
		add(&sentence, "]");
	}
	if (count)
		print_sentence(view, &sentence);
}

static int shows_quartiles(const struct results *results, enum metric metric)
{
	const struct stats *stats;
	int line, target;

	for (line = 0; line < results->line_count; line++)
		for (target = 0; target < results->target_count; target++) {
			stats = &results->lines[line].cells[target]
					 .values[metric];
			if (stats->count && stats->std > stats->mean)
				return 1;
		}
	return 0;
}

void notes_timing(const struct view *view, enum metric metric,
		  struct scale scale)
{
	const struct results *results = view->results;
	int line, column;

	notes_covered(view, metric);
	if (shows_quartiles(results, metric))
		print_note(view->out, view->options,
			   "median [q1, q3] where the deviation is larger than "
			   "the mean");
	for (line = 0; line < results->line_count; line++) {
		note_intervals(view, &results->lines[line], metric,
			       scale.factor, scale.name);
		for (column = 0; metric == METRIC_LOOP &&
				 line_is_setup(&results->lines[line]) &&
				 column < results->target_count; column++)
			note_parts(view, &results->lines[line], column);
	}
}

/*
 * Up to so many cores the model was within 10 % of what was measured on a host
 * with a free CPU for each: results/README.md says where.
 */
#define MODEL_CHECKED_CORES 2

void notes_model(const struct view *view)
{
	print_note(view->out, view->options,
		   "model: what a host with a free CPU for each core would "
		   "take, an estimate from the cores' CPU times (the slowest "
		   "core's of compute, reduce and update, its test and its "
		   "loader; shared caches and memory are not in it); checked "
		   "against such hosts up to %d cores, within 10 %%",
		   MODEL_CHECKED_CORES);
}

/* The whole device that this run's are parts of, or one of its devices. */
static const struct result *find_single(const struct view *view,
					const struct line *line,
					const struct run *several)
{
	for (int c = 0; c < view->results->target_count; c++) {
		const struct result *cell = view_cell(view, line, c);

		if (cell->run && run_is_on_devices(cell->run) &&
		    cell->run->cores == 1 &&
		    !strcmp(cell->run->device_name, several->device_name))
			return cell;
	}
	return NULL;
}

/* Units of devices are no cores, so these are compared with each other. */
static void note_devices(const struct view *view, const struct line *line)
{
	for (int c = 0; c < view->results->target_count; c++) {
		const struct result *cell = view_cell(view, line, c), *single;
		const double rate = cell->values[METRIC_RATE].mean;
		struct sentence sentence = { "" };
		char suffix[GRID_SUFFIX];

		if (!cell->run || !run_is_on_devices(cell->run) ||
		    cell->run->cores == 1)
			continue;
		single = find_single(view, line, cell->run);
		if (!single || !isfinite(rate) ||
		    !(single->values[METRIC_RATE].mean > 0))
			continue;
		line_suffix(line, suffix);
		if (setup_count(view->results) > 1)
			add(&sentence, "%s%s, ", setup_name(line), suffix);
		add(&sentence, "%s: %ld %s", cell->run->target,
		    cell->run->cores, run_cores_name(cell->run));
		add_number(&sentence, ", ",
			   rate / single->values[METRIC_RATE].mean, 2);
		add(&sentence, " times the images/s of %s",
		    single->run->target);
		print_sentence(view, &sentence);
	}
}

void notes_fourth(const struct view *view)
{
	const char *differs = work_differs(view->results);
	int line;

	print_note(view->out, view->options,
		   "images/s: training samples over the seconds of iterations "
		   "and of waiting for the loader; test, start-up and warm-up "
		   "are outside");
	print_note(view->out, view->options,
		   "speed-up: images/s over that of cpu-1, or without it of "
		   "the first target with one emulated core, in the same "
		   "setup and repetition; - if there is none, as among "
		   "devices; efficiency: speed-up over cores");
	print_note(view->out, view->options,
		   "time to an accuracy: from before the data set is read to "
		   "the end of the first test that reaches it; - if one of the "
		   "runs did not, or failed");
	if (differs)
		print_note(view->out, view->options,
			   "%s between columns, so compare accuracy with the "
			   "times", differs);
	print_note(view->out, view->options,
		   "CPU time is of the whole process, user and system");
	for (line = 0; line < view->results->line_count; line++) {
		note_intervals(view, &view->results->lines[line],
			       METRIC_SPEEDUP, 1, "speed-up");
		if (line_is_setup(&view->results->lines[line]))
			note_devices(view, &view->results->lines[line]);
	}
}
