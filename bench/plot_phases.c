#include "bench/plot.h"

#include <math.h>
#include <string.h>

/* In the order in which they are stacked. Two are no rows' phases: an iteration
 * whose parts are not known, and what is left of the epoch. */
enum { STEP = 4, REST = 7, PHASES };

static const char *const phases[PHASES] = {
	"compute", "wait", "reduce", "update", [STEP] = "iteration",
	"loader", "test", [REST] = "other",
};

struct shares {
	double seconds[PHASES];
	double total; /* of the epochs */
};

static void add_row(struct shares *shares, const struct observation *row)
{
	if (strcmp(row->status, "ok") || observation_is_modelled(row) ||
	    row->is_warmup == 1 || !isfinite(row->elapsed_s))
		return;
	if (!strcmp(row->phase, "epoch"))
		shares->total += row->elapsed_s;
	for (int p = 0; p < REST; p++)
		if (!strcmp(row->phase, phases[p]))
			shares->seconds[p] += row->elapsed_s;
}

/* A device that works in the background is waited for in the last part of an
 * iteration, so that the parts' times are not those of the parts. */
static void merge_parts(struct shares *shares)
{
	for (int p = 0; p < STEP; p++) {
		shares->seconds[STEP] += shares->seconds[p];
		shares->seconds[p] = 0;
	}
}

/* The rows of its cores, whose parts fill their epochs; those of one core are
 * the target's. */
static void add_run(struct shares *shares, const struct plot *plot,
		    const struct run *run)
{
	const struct observation *const *rows;
	size_t count;

	rows = rows_by_run_find(&plot->cores, run->run_id, &count);
	if (!count)
		rows = rows_by_run_find(&plot->rows, run->run_id, &count);
	for (size_t i = 0; i < count; i++)
		add_row(shares, rows[i]);
}

static void write_shares(FILE *out, int at, const char *label,
			 struct shares *shares)
{
	double from = 0, known = 0;

	for (int p = 0; p < REST; p++)
		known += shares->seconds[p];
	shares->seconds[REST] = fmax(0, shares->total - known);
	shares->total = fmax(shares->total, known);
	for (int p = 0; p < PHASES; p++) {
		const double to = from + 100 * shares->seconds[p] /
						 shares->total;

		fprintf(out, "%d,%d,%s,", at, p, phases[p]);
		plot_number(out, from, ',');
		plot_number(out, to, ',');
		plot_text(out, p ? "" : label, '\n');
		from = to;
	}
}

int plot_write_phases(FILE *out, const struct plot *plot,
		      struct plot_note *note, struct error *err)
{
	int merged = 0;

	(void)err;
	fputs("series,phase,name,from,to,label\n", out);
	for (int i = 0; i < plot->series_count; i++) {
		const struct plot_series *series = &plot->series[i];
		struct shares shares = { .total = 0 };
		const struct run *run;

		for (int r = 0; (run = plot_run(series, r)); r++)
			add_run(&shares, plot, run);
		if (!(shares.total > 0))
			continue;
		if (!strcmp(plot_run(series, 0)->backend, "opencl")) {
			merge_parts(&shares);
			merged = 1;
		}
		write_shares(out, note->rows++, series->label, &shares);
	}
	if (!note->rows)
		snprintf(note->text, sizeof(note->text),
			 "No epoch was finished.");
	else if (merged)
		snprintf(note->text, sizeof(note->text),
			 "A device works in the background, so that the parts "
			 "of its iterations are not told apart.");
	return 0;
}
