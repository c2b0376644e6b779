#include "bench/report/pictures/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/run.h"
#include "bench/system/memory.h"

/* Grid of a panel: finer than two marks can be distinguished. */
enum { COLUMNS = 240, ROWS_PER_E = 40 };

struct mark {
	long iteration; /* from 1; of warm-up up to 0 */
	double seconds;
	int column, row; /* of the grid; the same mark is drawn once */
	int is_warmup, disturbed;
};

struct marks {
	struct mark *list;
	size_t count, room;
	long first, last; /* iterations */
};

static int is_step(const struct observation *row)
{
	return !strcmp(row->phase, "step") && !strcmp(row->status, "ok") &&
	       row->elapsed_s > 0 && isfinite(row->elapsed_s) &&
	       !observation_is_modelled(row);
}

static int add_run(struct marks *marks, const struct run *run,
		   const struct observation *const *rows, size_t count,
		   struct error *err)
{
	char why[96];
	const int disturbed = run_is_slowed(run, why, sizeof(why));
	long warmups = 0, steps = 0, iteration;

	for (size_t i = 0; i < count; i++) {
		warmups += is_step(rows[i]) && rows[i]->is_warmup == 1;
		steps += is_step(rows[i]);
	}
	/* With --sync epoch, only warm-up iterations have times. */
	if (steps == warmups)
		return 0;
	iteration = -warmups;
	for (size_t i = 0; i < count; i++) {
		void *list = marks->list;

		if (!is_step(rows[i]))
			continue;
		if (array_make_room(&list, marks->count, &marks->room,
				    sizeof(*marks->list), "a picture", err))
			return -1;
		marks->list = list;
		marks->list[marks->count++] = (struct mark){
			.iteration = ++iteration,
			.seconds = rows[i]->elapsed_s,
			.is_warmup = rows[i]->is_warmup == 1,
			.disturbed = disturbed,
		};
		if (iteration < marks->first)
			marks->first = iteration;
		if (iteration > marks->last)
			marks->last = iteration;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct mark *left = a, *right = b;

	if (left->column != right->column)
		return left->column < right->column ? -1 : 1;
	if (left->row != right->row)
		return left->row < right->row ? -1 : 1;
	if (left->is_warmup != right->is_warmup)
		return right->is_warmup - left->is_warmup;
	return left->disturbed - right->disturbed;
}

/* Sets the marks' places on the grid; writes the first mark of each place. */
static void write_marks(FILE *out, int panel, const char *label,
			struct marks *marks)
{
	const double span = (double)(marks->last - marks->first + 1);
	const struct mark *before = NULL;

	for (size_t i = 0; i < marks->count; i++) {
		struct mark *mark = &marks->list[i];
		const double from = (double)(mark->iteration - marks->first);

		mark->column = (int)(COLUMNS * from / span);
		mark->row = (int)floor(ROWS_PER_E * log(mark->seconds));
	}
	qsort(marks->list, marks->count, sizeof(*marks->list), compare);
	for (size_t i = 0; i < marks->count; i++) {
		const struct mark *mark = &marks->list[i];

		if (before && !compare(before, mark))
			continue;
		fprintf(out, "%d,%ld,%s,%d,%s,%d\n", panel, mark->iteration,
			plot_number(1e3 * mark->seconds).text, mark->is_warmup,
			plot_text(before ? "" : label), mark->disturbed);
		before = mark;
	}
}

static int write_panel(FILE *out, const struct plot *plot, int at,
		       struct plot_note *note, struct error *err)
{
	struct marks marks = { .first = 1 };
	const struct observation *const *rows;
	const struct run *run;
	size_t count;
	int failed = 0;

	for (int r = 0; (run = plot_run(&plot->series[at], r)) && !failed;
	     r++) {
		rows = rows_by_run_find(&plot->rows, run->run_id, &count);
		failed = add_run(&marks, run, rows, count, err);
	}
	if (!failed && marks.count)
		write_marks(out, note->rows++, plot->series[at].label, &marks);
	free(marks.list);
	return failed;
}

int plot_write_iterations(FILE *out, const struct plot *plot,
			  struct plot_note *note, struct error *err)
{
	fputs("series,iteration,ms,is_warmup,label,disturbed\n", out);
	for (int i = 0; i < plot->series_count; i++)
		if (write_panel(out, plot, i, note, err))
			return -1;
	if (!note->rows)
		snprintf(note->text, sizeof(note->text),
			 "No iteration was finished and timed alone.");
	return 0;
}
