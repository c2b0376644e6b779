#include "bench/report/pictures/plot.h"

#include <math.h>
#include <string.h>

#include "bench/record/post.h"
#include "bench/record/run.h"
#include "bench/system/number.h"
#include "bench/system/text.h"

/* One in the picture. */
struct epoch_mark {
	int series;
	const char *kind;
	int disturbed;
};

/* A mark with its spread; "each" ones are small and have none. */
static void write_mark(FILE *out, struct epoch_mark mark, double seconds,
		       double low, double high)
{
	fprintf(out, "%d,%s,%s,%s,%s,-,-,%d\n", mark.series, mark.kind,
		plot_number(seconds).text, plot_number(low).text,
		plot_number(high).text, mark.disturbed);
}

/* Writes "38.9 ± 1.4 s" with a sensible number of digits, and the length to
 * which the run's epochs were cut. */
static void value_text(char *text, size_t size, const struct stats *stats,
		       const struct run *run)
{
	const double shown = is_skewed(stats) ? stats->median : stats->mean;
	const int decimals = decimals_of(shown, 4);
	const struct number_text number = fixed_text(shown, decimals);
	char both[4 * NUMBER_SIZE];

	if (is_skewed(stats))
		snprintf(both, sizeof(both), "median %s s", number.text);
	else if (stats->count > 1)
		snprintf(both, sizeof(both), "%s ± %s s", number.text,
			 fixed_text(stats->std, decimals).text);
	else
		snprintf(both, sizeof(both), "%s s", number.text);
	plot_append_cut(both, sizeof(both), run);
	plot_encode(text, size, both);
}

/* Writes quartiles if the deviation exceeds the mean, as in the tables. */
static void write_stats(FILE *out, struct epoch_mark mark,
			const struct stats *stats)
{
	if (stats->count == 1)
		write_mark(out, mark, stats->mean, stats->mean, stats->mean);
	else if (is_skewed(stats))
		write_mark(out, mark, stats->median, stats->q1, stats->q3);
	else if (stats->count)
		write_mark(out, mark, stats->mean, stats->mean - stats->std,
			   stats->mean + stats->std);
}

static void write_label(FILE *out, int at, const struct plot_series *series,
			const struct stats *stats)
{
	char text[8 * NUMBER_SIZE];

	value_text(text, sizeof(text), stats, plot_run(series, 0));
	fprintf(out, "%d,label,,,,%s,%s,0\n", at, series->label, text);
}

/* Writes the runs if there are several, otherwise the epochs of the only
 * one. */
static void write_each(FILE *out, const struct plot *plot, int at)
{
	const struct plot_series *series = &plot->series[at];
	const struct observation *const *rows;
	const struct result *each;
	struct epoch_mark mark = { .series = at, .kind = "each" };
	char why[96];
	size_t count;

	if (series->result->line->repetitions > 1) {
		for (int r = 0; (each = next_repetition(series->result, &r));) {
			mark.disturbed = each->run &&
					 run_is_slowed(each->run, why,
						       sizeof(why));
			if (each->values[METRIC_EPOCH].count)
				write_mark(out, mark,
					   each->values[METRIC_EPOCH].mean,
					   NAN, NAN);
		}
		return;
	}
	if (series->result->values[METRIC_EPOCH].count == 1)
		return;
	mark.disturbed = series->disturbed;
	rows = rows_by_run_find(&plot->rows, series->result->run->run_id,
				&count);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i]->phase, "epoch") && plot_counts(rows[i]))
			write_mark(out, mark, rows[i]->elapsed_s, NAN, NAN);
}

static int write_post(FILE *out, const struct plot_series *series, int at)
{
	const struct run *run = plot_run(series, 0);
	int i, count = 0;

	if (!post_compares_epoch(run))
		return 0;
	for (i = 0; i < post_figure_count; i++) {
		const struct post_figure *figure = &post_figures[i];
		const double low = figure->epoch_s - figure->epoch_std_s;
		char kind[32];

		if (strcmp(figure->target, run->target))
			continue;
		snprintf(kind, sizeof(kind), "post-%s", figure->setup);
		write_mark(out, (struct epoch_mark){ at, kind, 0 },
			   figure->epoch_s,
			   low, figure->epoch_s + figure->epoch_std_s);
		count++;
	}
	return count;
}

static void write_note(struct plot_note *note, const struct plot *plot,
		       int posts)
{
	char cut[512];

	if (!note->rows)
		snprintf(note->text, sizeof(note->text), "%s",
			 plot_why_empty(plot, "No epoch was finished."));
	else if (!posts)
		snprintf(note->text, sizeof(note->text),
			 "The post's values are left out, since these are not "
			 "whole epochs of its network on its targets.");
	else
		snprintf(note->text, sizeof(note->text),
			 "The post's values are history, not a race: 8 TPU "
			 "cores, 1 TPU core and a GPU of 2020, one run each. "
			 "Its timers did not wait for the device.");
	results_short_text(&plot->results, cut, sizeof(cut));
	if (note->rows && cut[0])
		text_append(note->text, sizeof(note->text), " Epochs were %s.",
			    cut);
}

int plot_write_epochs(FILE *out, const struct plot *plot,
		      struct plot_note *note, struct error *err)
{
	int posts = 0;

	(void)err;
	fputs("series,kind,seconds,low,high,label,text,disturbed\n", out);
	for (int i = 0; i < plot->series_count; i++) {
		const struct plot_series *series = &plot->series[i];
		const struct result *result = series->result;
		const struct stats *stats = &result->values[METRIC_EPOCH];

		if (!stats->count || !plot_is_trained(series))
			continue;
		write_label(out, note->rows, series, stats);
		write_stats(out, (struct epoch_mark){ note->rows, "measured",
						series->disturbed }, stats);
		write_each(out, plot, i);
		/* One core has a CPU of its own already. */
		if (result->run->cores > 1)
			write_stats(out, (struct epoch_mark){ note->rows,
				    "model", 0 },
				    &result->values[METRIC_MODEL_EPOCH]);
		posts += write_post(out, series, note->rows);
		note->rows++;
	}
	write_note(note, plot, posts);
	return 0;
}
