#include "bench/show/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/system/number.h"
#include "bench/system/text.h"
#include "bench/record/run.h"
#include "bench/show/table_view.h"

const struct picture pictures[PLOT_PICTURES] = {
	{ "epochs", "Seconds per epoch",
	  "What an epoch takes, its test set included; less is better. The "
	  "thick mark is the mean and the bar its spread: across runs where "
	  "there are several, else across the epochs of the one. Small marks "
	  "are single runs, or epochs. What was disturbed is hollow.",
	  plot_write_epochs },
	{ "iterations", "Every iteration",
	  "One mark for each iteration in the order in which they were made, "
	  "all runs on top of each other; marks that would cover each other "
	  "are drawn once. Left of 1 is the warm-up, which does not count. "
	  "What stands alone high up are outliers; runs that were disturbed "
	  "are hollow.",
	  plot_write_iterations },
	{ "learning", "Accuracy and loss over time",
	  "What was reached after how many seconds of the training loop. "
	  "Accuracy and the marked loss are of the test set, after each "
	  "epoch; the thin line is the loss in training, averaged over some "
	  "iterations.",
	  plot_write_learning },
	{ "speedup", "Speed-up against cores",
	  "Images per second over those of one core. Ideal would be as many "
	  "times as there are cores; above the CPUs that they share measured "
	  "points get by noise alone. Emulated is the model's clock: a free "
	  "CPU for each core.",
	  plot_write_speedup },
	{ "phases", "Where the time of an epoch goes",
	  "Shares of the time of an epoch, as a mean over the cores and runs "
	  "of a target.",
	  plot_write_phases },
};

const struct result *plot_result(const struct plot_series *series)
{
	return &series->line->cells[series->target];
}

static int has_numbers(const struct result *result)
{
	return result->run && (result->outcome == OUTCOME_OK ||
			       result->outcome == OUTCOME_PARTIAL);
}

const struct run *plot_run(const struct plot_series *series, int at)
{
	const struct line *lines;
	int count, i;

	lines = line_runs(series->line, &count);
	for (i = 0; i < count; i++)
		if (has_numbers(&lines[i].cells[series->target]) && !at--)
			return lines[i].cells[series->target].run;
	return NULL;
}

/* Private characters of Unicode stand for those of ASCII that are not plain:
 * U+E000 and on. */
void plot_encode(char *to, size_t size, const char *text)
{
	static const char plain[] = "_-+.:;@()/ ";
	int first = 1;

	for (; *text; text++, first = 0) {
		const unsigned char each = (unsigned char)*text;
		/* What a spreadsheet takes for a formula starts with them. */
		const int formula = first && strchr("+-@", each);

		if (size <= 3)
			break;
		if (each >= 0x80 || (each >= '0' && each <= '9') ||
		    ((each | 0x20) >= 'a' && (each | 0x20) <= 'z') ||
		    (strchr(plain, each) && !formula)) {
			*to++ = (char)each;
			size--;
			continue;
		}
		*to++ = '\xEE';
		*to++ = (char)(0x80 | each >> 6);
		*to++ = (char)(0x80 | (each & 0x3F));
		size -= 3;
	}
	*to = '\0';
}

void plot_number(FILE *out, double value, char end)
{
	char number[NUMBER_SIZE];

	number_print(number, value);
	fprintf(out, "%s%c", number, end);
}

void plot_text(FILE *out, const char *encoded, char end)
{
	fprintf(out, "%s%c", encoded[0] ? encoded : "-", end);
}

/* So many columns of text leave room for a value beside them. */
enum { MOST_SETUP = 18, MOST_LABEL = 36 };

void plot_name(char label[PLOT_LABEL], const struct plot *plot,
	       const struct line *line, const char *what)
{
	const struct line *last =
		&plot->results.lines[plot->results.line_count - 1];
	char setup[PLOT_LABEL] = "", clean[PLOT_LABEL], both[2 * PLOT_LABEL];

	if (last->setup > 0) {
		text_clean(setup, sizeof(setup), setup_name(line), 0);
		text_cut(setup, MOST_SETUP);
	}
	text_clean(clean, sizeof(clean), what, 0);
	snprintf(both, sizeof(both), "%s%s%s", setup, setup[0] ? ": " : "",
		 clean);
	text_cut(both, MOST_LABEL);
	plot_encode(label, PLOT_LABEL, both);
}

static void list_series(struct plot *plot, const struct view *view)
{
	const struct results *results = &plot->results;
	const int lines = results->line_count;
	struct plot_series series;
	const struct run *run;
	char head[GRID_TEXT], why[96];

	for (int l = 0; l < lines; l++)
		for (int t = 0; t < results->target_count; t++) {
			series = (struct plot_series){
				.line = &results->lines[l], .target = t,
			};
			if (!line_is_setup(series.line) ||
			    !plot_run(&series, 0))
				continue;
			if (plot->series_count == PLOT_MOST_SERIES) {
				plot->left_out++;
				continue;
			}
			view_head(view, t, head);
			plot_name(series.label, plot, series.line, head);
			for (int r = 0; (run = plot_run(&series, r)); r++)
				series.disturbed |=
					run_is_slowed(run, why, sizeof(why));
			plot->series[plot->series_count++] = series;
		}
}

static int name_all(struct plot *plot, struct error *err)
{
	const struct table_options options = { .format = TABLE_PLAIN,
					       .utf8 = 1 };
	const int targets = plot->results.target_count;
	struct view view = { &plot->results, &options, NULL, NULL, NULL };
	int failed = view_find_devices(&view, err);

	view.order = malloc(((size_t)targets + 1) * sizeof(*view.order));
	if (!view.order && !failed)
		failed = error_memory(err, "a picture");
	for (int t = 0; t < targets && view.order; t++)
		view.order[t] = t;
	if (!failed)
		list_series(plot, &view);
	free(view.order);
	free(view.devices);
	return failed;
}

int plot_build(struct plot *plot, const struct campaign *campaign,
	       struct error *err)
{
	const struct campaign cores = {
		.observations = campaign->core_rows,
		.observation_count = campaign->core_row_count,
	};

	*plot = (struct plot){ .campaign = campaign };
	if (!results_build(&plot->results, campaign, 0, err) &&
	    !rows_by_run_make(&plot->rows, campaign, err) &&
	    !rows_by_run_make(&plot->cores, &cores, err) &&
	    !name_all(plot, err))
		return 0;
	plot_free(plot);
	return -1;
}

void plot_free(struct plot *plot)
{
	rows_by_run_free(&plot->cores);
	rows_by_run_free(&plot->rows);
	results_free(&plot->results);
	*plot = (struct plot){ 0 };
}
