#include "bench/report/pictures/plot.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number of cores of one kind of target. */
struct point {
	const struct result *result;
	long cores;
	char kind[64]; /* its target without the number: cpu, cpu@fork */
	int group;     /* of one kind and setup */
};

/* Sets a point. Returns 0 if the target is not counted in cores. */
static int point_of(const struct result *result, struct point *point)
{
	const struct run *run = result->run;
	const char *dash = strchr(run->target, '-');
	const char *rest = dash ? dash + 1 : "";

	if (!isdigit((unsigned char)*rest) || run->cores < 1 ||
	    run_is_on_devices(run) || !result->values[METRIC_SPEEDUP].count)
		return 0;
	rest += strspn(rest, "0123456789");
	*point = (struct point){ .result = result, .cores = run->cores };
	snprintf(point->kind, sizeof(point->kind), "%.*s%s",
		 (int)(dash - run->target), run->target, rest);
	return 1;
}

static int compare(const void *a, const void *b)
{
	const struct point *left = a, *right = b;

	if (left->group != right->group)
		return left->group - right->group;
	return left->cores < right->cores ? -1 : left->cores > right->cores;
}

/* Groups are numbered as their kinds come first. */
static int list_points(const struct plot *plot, struct point *points)
{
	int count = 0, before;

	for (int i = 0; i < plot->series_count; i++) {
		struct point *point = &points[count];

		if (!point_of(plot->series[i].result, point))
			continue;
		for (before = 0; before < count; before++)
			if (points[before].result->line ==
				    point->result->line &&
			    !strcmp(points[before].kind, point->kind))
				break;
		point->group = before < count ? points[before].group : count;
		count++;
	}
	qsort(points, (size_t)count, sizeof(*points), compare);
	return count;
}

/* The estimate; NAN for one of disturbed runs, or above the cores. */
static double estimate_of(const struct result *result)
{
	const double estimate = result->values[METRIC_MODEL_SPEEDUP].mean;

	return result_was_disturbed(result) ||
	       result_was_disturbed(line_base(result->line)) ||
	       estimate > (double)result->run->cores + RATIO_ROUNDED ?
		       NAN : estimate;
}

/* Hollow is what a disturbed run of it or of its base makes doubtful, or what
 * exceeds its CPUs. */
static void write_point(FILE *out, int group, const struct result *result,
			const char *label)
{
	const struct stats *stats = &result->values[METRIC_SPEEDUP];
	const double half = stats_shown_half_width(stats);
	const long cpus = result->run->cpus;
	const struct doubt doubt = ratio_doubt(result, line_base(result->line),
					       stats);

	fprintf(out, "%d,%ld,%s,%s,%s,%s,%s,%s,%d\n", group,
		result->run->cores, plot_number(stats->mean).text,
		plot_number(stats->mean - half).text,
		plot_number(stats->mean + half).text,
		plot_number(estimate_of(result)).text,
		plot_number(cpus == CELL_NO_INT ? NAN : (double)cpus).text,
		plot_text(label), doubt.text[0] != '\0');
}

/* Returns how many estimates were left out. */
static int write_group(FILE *out, const struct plot *plot, int group,
		       const struct point *points, int count)
{
	char label[PLOT_LABEL];
	int left_out = 0;

	plot_name(label, plot, points->result->line, points->kind);
	for (int i = 0; i < count; i++) {
		const struct result *result = points[i].result;

		write_point(out, group, result, label);
		left_out += result->values[METRIC_MODEL_SPEEDUP].count &&
			    isnan(estimate_of(result));
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
		if (points[next - 1].cores > 1)
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
