#include "bench/report/pictures/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Phases in the order of stacking. Two have no rows: an iteration with unknown
 * parts, and the rest of the epoch. */
enum { STEP = 4, REST = 7, PHASES };

static const char *const phases[PHASES] = {
	"compute", "wait", "reduce", "update", [STEP] = "iteration",
	"loader", "test", [REST] = "other",
};

struct shares {
	double seconds[PHASES];
	double total; /* of the epochs */
	int partial;  /* a run that did not finish is in it */
};

/* Sorts rows by core and epoch. */
static int compare(const void *a, const void *b)
{
	const struct observation *left = *(const struct observation *const *)a;
	const struct observation *right = *(const struct observation *const *)b;

	if (left->core != right->core)
		return left->core < right->core ? -1 : 1;
	return (left->epoch > right->epoch) - (left->epoch < right->epoch);
}

/* Adds an epoch. An unfinished epoch is skipped: its whole time is not
 * known. */
static void add_epoch(struct shares *shares,
		      const struct observation *const *rows, size_t count)
{
	double total = 0;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i]->phase, "epoch"))
			total += rows[i]->elapsed_s;
	if (!(total > 0))
		return;
	shares->total += total;
	for (size_t i = 0; i < count; i++)
		for (int p = 0; p < REST; p++)
			if (!strcmp(rows[i]->phase, phases[p]))
				shares->seconds[p] += rows[i]->elapsed_s;
}

static int add_rows(struct shares *shares,
		    const struct observation *const *rows, size_t count,
		    struct error *err)
{
	const struct observation **sorted = malloc((count + 1) *
						   sizeof(*sorted));
	size_t used = 0, begin, end;

	if (!sorted)
		return error_memory(err, "a picture");
	for (size_t i = 0; i < count; i++)
		if (plot_counts(rows[i]))
			sorted[used++] = rows[i];
	qsort(sorted, used, sizeof(*sorted), compare);
	for (begin = 0; begin < used; begin = end) {
		end = begin + 1;
		while (end < used && !compare(&sorted[begin], &sorted[end]))
			end++;
		add_epoch(shares, sorted + begin, end - begin);
	}
	free(sorted);
	return 0;
}

/* The host waits for a background device in the last part of an iteration, so
 * that times of parts are not comparable. */
static void merge_parts(struct shares *shares)
{
	for (int p = 0; p < STEP; p++) {
		shares->seconds[STEP] += shares->seconds[p];
		shares->seconds[p] = 0;
	}
}

/* Adds a run: the rows of its cores, or of the target if it has one core. */
static int add_run(struct shares *shares, const struct plot *plot,
		   const struct run *run, struct error *err)
{
	const struct observation *const *rows;
	const double before = shares->total;
	size_t count;

	rows = rows_by_run_find(&plot->cores, run->run_id, &count);
	if (!count)
		rows = rows_by_run_find(&plot->rows, run->run_id, &count);
	if (add_rows(shares, rows, count, err))
		return -1;
	shares->partial |= shares->total > before && strcmp(run->status, "ok");
	return 0;
}

static void write_shares(FILE *out, int at, const struct plot_series *series,
			 struct shares *shares)
{
	double from = 0, known = 0;
	char label[PLOT_LABEL], cut[48] = "";

	plot_append_cut(cut, sizeof(cut), plot_run(series, 0));
	snprintf(label, sizeof(label), "%s", series->label);
	plot_encode(strchr(label, '\0'), sizeof(label) - strlen(label), cut);

	for (int p = 0; p < REST; p++)
		known += shares->seconds[p];
	shares->seconds[REST] = fmax(0, shares->total - known);
	shares->total = fmax(shares->total, known);
	for (int p = 0; p < PHASES; p++) {
		const double to = from + 100 * shares->seconds[p] /
						 shares->total;

		fprintf(out, "%d,%d,%s,%s,%s,%s\n", at, p, phases[p],
			plot_number(from).text, plot_number(to).text,
			plot_text(p ? "" : label));
		from = to;
	}
}

int plot_write_phases(FILE *out, const struct plot *plot,
		      struct plot_note *note, struct error *err)
{
	int merged = 0, partial = 0;

	fputs("series,phase,name,from,to,label\n", out);
	for (int i = 0; i < plot->series_count; i++) {
		const struct plot_series *series = &plot->series[i];
		struct shares shares = { .total = 0 };
		const struct run *run;

		if (!plot_is_trained(series))
			continue;
		for (int r = 0; (run = plot_run(series, r)); r++)
			if (add_run(&shares, plot, run, err))
				return -1;
		if (!(shares.total > 0))
			continue;
		partial |= shares.partial;
		/* Several devices meet, and are waited for in each part. */
		run = plot_run(series, 0);
		if (run_is_on_devices(run) && run->cores == 1) {
			merge_parts(&shares);
			merged = 1;
		}
		write_shares(out, note->rows++, series, &shares);
	}
	snprintf(note->text, sizeof(note->text), "%s%s%s%s",
		 note->rows ? "" :
		 plot_why_empty(plot, "No epoch was finished."),
		 merged ? "A device works in the background, so the parts of "
			  "its iterations cannot be separated." : "",
		 merged && partial ? " " : "",
		 partial ? "Finished epochs of unfinished runs are included." :
		 "");
	return 0;
}
