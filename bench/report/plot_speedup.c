#include "bench/report/plot.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number of cores of one kind of target. */
struct point {
	const struct plot_series *series;
	char kind[64]; /* its target without the number: cpu, cpu@fork */
	int group;     /* of one kind and setup */
};

/* Those that are counted in cores; returns whether this one is. */
static int point_of(const struct plot_series *series, struct point *point)
{
	const struct run *run = plot_result(series)->run;
	const char *dash = strchr(run->target, '-');
	const char *rest = dash ? dash + 1 : "";

	if (!isdigit((unsigned char)*rest) || run->cores < 1 ||
	    run_is_on_devices(run) ||
	    !plot_result(series)->values[METRIC_SPEEDUP].count)
		return 0;
	while (isdigit((unsigned char)*rest))
		rest++;
	*point = (struct point){ .series = series };
	snprintf(point->kind, sizeof(point->kind), "%.*s%s",
		 (int)(dash - run->target), run->target, rest);
	return 1;
}

static int is_same_kind(const struct point *a, const struct point *b)
{
	return a->series->line == b->series->line && !strcmp(a->kind, b->kind);
}

static long cores_of(const struct point *point)
{
	return plot_result(point->series)->run->cores;
}

static int compare(const void *a, const void *b)
{
	const struct point *left = a, *right = b;

	if (left->group != right->group)
		return left->group - right->group;
	return cores_of(left) < cores_of(right) ? -1 :
	       cores_of(left) > cores_of(right);
}

/* Groups are numbered as their kinds come first. */
static int list_points(const struct plot *plot, struct point *points)
{
	int count = 0, groups = 0;

	for (int i = 0; i < plot->series_count; i++) {
		struct point *point = &points[count];
		int before = 0;

		if (!point_of(&plot->series[i], point))
			continue;
		while (before < count && !is_same_kind(&points[before], point))
			before++;
		point->group = before < count ? points[before].group : groups++;
		count++;
	}
	qsort(points, (size_t)count, sizeof(*points), compare);
	return count;
}

/* A disturbed run of it or of its base, or more than its CPUs allow. */
static int is_doubtful(const struct plot *plot, const struct point *point)
{
	const struct line *line = point->series->line;
	const struct result *result = plot_result(point->series);
	const struct result *base = line_base(&plot->results, line);
	char doubt[160];

	ratio_doubt_text(doubt, sizeof(doubt), line, result, base,
			 &result->values[METRIC_SPEEDUP]);
	return doubt[0] != '\0';
}

/* The estimate; NAN for one of disturbed runs, or above the cores. */
static double estimate_of(const struct plot *plot, const struct point *point)
{
	const struct line *line = point->series->line;
	const struct result *result = plot_result(point->series);
	const double estimate = result->values[METRIC_MODEL_SPEEDUP].mean;

	return result_was_disturbed(line, result) ||
	       result_was_disturbed(line, line_base(&plot->results, line)) ||
	       estimate > (double)cores_of(point) + RATIO_ROUNDED ?
		       NAN : estimate;
}

static void write_point(FILE *out, const struct plot *plot, int group,
			const struct point *point, const char *label)
{
	const struct result *result = plot_result(point->series);
	const struct stats *stats = &result->values[METRIC_SPEEDUP];
	const double half = stats_shown_half_width(stats);
	const long cpus = result->run->cpus;

	fprintf(out, "%d,%ld,%s,%s,%s,%s,%s,%s,%d\n", group, cores_of(point),
		plot_number(stats->mean).text,
		plot_number(stats->mean - half).text,
		plot_number(stats->mean + half).text,
		plot_number(estimate_of(plot, point)).text,
		plot_number(cpus == CELL_NO_INT ? NAN : (double)cpus).text,
		plot_text(label), is_doubtful(plot, point));
}

/* Returns how many estimates were left out. */
static int write_group(FILE *out, const struct plot *plot, int group,
		       const struct point *points, int count)
{
	char label[PLOT_LABEL];
	int left_out = 0;

	plot_name(label, plot, points->series->line, points->kind);
	for (int i = 0; i < count; i++) {
		const struct result *result = plot_result(points[i].series);

		write_point(out, plot, group, &points[i], label);
		left_out += result->values[METRIC_MODEL_SPEEDUP].count &&
			    isnan(estimate_of(plot, &points[i]));
	}
	fputc('\n', out);
	return left_out;
}

int plot_write_speedup(FILE *out, const struct plot *plot,
		       struct plot_note *note, struct error *err)
{
	struct point points[PLOT_MOST_SERIES];
	const int count = list_points(plot, points);
	int next, left_out = 0;

	(void)err;
	fputs("group,cores,speedup,low,high,emulated,cpus,label,disturbed\n",
	      out);
	for (int at = 0; at < count; at = next) {
		for (next = at + 1; next < count &&
				    points[next].group == points[at].group;)
			next++;
		/* One core alone is no line. */
		if (cores_of(&points[next - 1]) > 1)
			left_out += write_group(out, plot, note->rows++,
						&points[at], next - at);
	}
	snprintf(note->text, sizeof(note->text), "%s%s", note->rows ?
		 "Bars are 95 % intervals of the mean across three runs and "
		 "more. Targets that have no cores to count, such as OpenCL, "
		 "are in the tables." :
		 "There is no target of several cores with one of a single "
		 "core to compare it with.", left_out ? " Estimates from "
		 "disturbed runs, and those above the number of cores, are "
		 "left out." : "");
	return 0;
}
