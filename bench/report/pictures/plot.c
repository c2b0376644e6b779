#include "bench/report/pictures/plot.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/run.h"
#include "bench/report/table_view.h"
#include "bench/system/file.h"
#include "bench/system/text.h"

/* Lines of the files in plot/: of the pictures in their order, and of their
 * common part. Each file ends with NULL. */
static const char *const scripts[] = {
#include "plot/epochs.gp.h"
	NULL,
#include "plot/iterations.gp.h"
	NULL,
#include "plot/learning.gp.h"
	NULL,
#include "plot/speedup.gp.h"
	NULL,
#include "plot/phases.gp.h"
	NULL,
#include "plot/scale.gp.h"
	NULL,
#include "plot/style.gp.h"
	NULL
};

const struct picture pictures[PLOT_PICTURES] = {
	{ "epochs", "Seconds per epoch",
	  "The time of an epoch with its test set; lower is better. The thick "
	  "mark is the mean and the bar its spread: across several runs, or "
	  "across the epochs of one. Small marks are single runs, or epochs. "
	  "Disturbed runs are hollow.",
	  plot_write_epochs },
	{ "iterations", "Every iteration",
	  "One mark per iteration, in order, with all runs on top of each "
	  "other. Marks that would cover each other are drawn once. Left of 1 "
	  "is the warm-up, which does not count. Single marks high up are "
	  "outliers; disturbed runs are hollow.",
	  plot_write_iterations },
	{ "learning", "Accuracy and loss over time",
	  "Accuracy and loss against the seconds of the training loop. "
	  "Accuracy and the marked loss are measured on the test set after "
	  "each epoch. The thin line is the training loss, averaged over some "
	  "iterations.",
	  plot_write_learning },
	{ "speedup", "Speed-up against cores",
	  "Images per second, divided by the images per second of one core. "
	  "The ideal is the number of cores. Noise alone can put measured "
	  "points above the number of CPUs. The estimate is for a host with a "
	  "free CPU per core. Hollow marks are disturbed runs, or exceed the "
	  "number of CPUs.",
	  plot_write_speedup },
	{ "phases", "Where the time of an epoch goes",
	  "Shares of the time of an epoch, as a mean over the cores and runs "
	  "of a target.",
	  plot_write_phases },
	{ "scale", "What more cores would bring",
	  "A model, not measured: what bench scale predicts from the "
	  "iterations of one core and the cost of an all-reduce. Bars are 95 % "
	  "intervals.",
	  plot_write_scale },
};

static int has_numbers(const struct result *result)
{
	return result->run && (result->outcome == OUTCOME_OK ||
			       result->outcome == OUTCOME_PARTIAL);
}

const struct run *plot_run(const struct plot_series *series, int at)
{
	const struct result *each;

	for (int r = 0; (each = next_repetition(series->result, &r));)
		if (has_numbers(each) && !at--)
			return each->run;
	return NULL;
}

int plot_is_trained(const struct plot_series *series)
{
	return !line_is_inference(series->result->line);
}

int plot_is_inference(const struct plot *plot)
{
	for (int i = 0; i < plot->series_count; i++)
		if (plot_is_trained(&plot->series[i]))
			return 0;
	return plot->series_count > 0;
}

const char *plot_why_empty(const struct plot *plot, const char *why)
{
	return plot_is_inference(plot) ? "Nothing was trained: these are "
					 "forward passes alone." : why;
}

/* U+E000 + c replaces each ASCII character c that is not plain. */
void plot_encode(char *to, size_t size, const char *text)
{
	static const char plain[] = "_-+.:;@()/ ";
	int first = 1;

	for (; *text; text++, first = 0) {
		const unsigned char each = (unsigned char)*text;
		/* A spreadsheet takes text that starts with them for a
		 * formula. */
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

struct number_text plot_number(double value)
{
	struct number_text number;

	number_print(number.text, value);
	return number;
}

const char *plot_text(const char *encoded)
{
	return encoded[0] ? encoded : "-";
}

int plot_counts(const struct observation *row)
{
	return !strcmp(row->status, "ok") && isfinite(row->elapsed_s) &&
	       row->is_warmup != 1 && !observation_is_modelled(row);
}

/* Columns of text that leave room for a value next to them. */
enum { MOST_SETUP = 18, MOST_LABEL = 36 };

void plot_name(char label[PLOT_LABEL], const struct plot *plot,
	       const struct line *line, const char *what)
{
	char setup[PLOT_LABEL] = "", clean[PLOT_LABEL], both[2 * PLOT_LABEL];

	if (setup_count(&plot->results) > 1) {
		text_clean(setup, sizeof(setup), setup_name(line), 0);
		text_cut(setup, MOST_SETUP);
	}
	text_clean(clean, sizeof(clean), what, 0);
	snprintf(both, sizeof(both), "%s%s%s", setup, setup[0] ? ": " : "",
		 clean);
	text_cut(both, MOST_LABEL);
	plot_encode(label, PLOT_LABEL, both);
}

void plot_append_cut(char *text, size_t size, const struct run *run)
{
	if (run_is_cut(run))
		text_append(text, size, " (%s)",
			    count_text(run->steps, "iteration").text);
}

static void add_series(struct plot *plot, const struct view *view,
		       const struct result *cell)
{
	const int target = (int)(cell - cell->line->cells);
	struct plot_series series = { .result = cell };
	char why[96];
	const struct run *run;

	if (!plot_run(&series, 0))
		return;
	if (plot->series_count == PLOT_MOST_SERIES) {
		plot->left_out++;
		return;
	}
	plot_name(series.label, plot, cell->line,
		  target_title(view, target).text);
	for (int r = 0; (run = plot_run(&series, r)); r++)
		series.disturbed |= run_is_slowed(run, why, sizeof(why));
	plot->series[plot->series_count++] = series;
}

static int list_series(struct plot *plot, struct error *err)
{
	const struct results *results = &plot->results;
	struct view view = { .results = results };
	const struct result *cell;

	if (view_find_devices(&view, err))
		return -1;
	for (int at = 0; (cell = next_cell(results, &at));)
		if (line_is_setup(cell->line))
			add_series(plot, &view, cell);
	free(view.devices);
	return 0;
}

int plot_build(struct plot *plot, const struct campaign *campaign,
	       struct error *err)
{
	const struct campaign cores = {
		.observations = campaign->core_rows,
		.observation_count = campaign->core_row_count,
	};

	*plot = (struct plot){ .campaign = campaign };
	if (!results_build(&plot->results, campaign, RESULTS_ALL, 0, err) &&
	    !rows_by_run_make(&plot->rows, campaign, err) &&
	    !rows_by_run_make(&plot->cores, &cores, err) &&
	    !list_series(plot, err))
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

static int print_script(FILE *out, const void *context, struct error *err)
{
	(void)err;
	for (const char *const *line = context; *line; line++)
		fputs(*line, out);
	return 0;
}

int plot_write_scripts(const char *folder, struct error *err)
{
	const char *const *script = scripts;
	char path[PATH_MAX];

	for (int i = 0; i <= PLOT_PICTURES; i++) {
		snprintf(path, sizeof(path), "%s/%s.gp", folder,
			 i < PLOT_PICTURES ? pictures[i].name : "style");
		if (file_replace_with(path, print_script, script, err))
			return -1;
		while (*script++)
			;
	}
	return 0;
}
