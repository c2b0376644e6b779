#include "bench/report/pictures/plot.h"

#include <math.h>
#include <string.h>

/* Points per run: the training loss is averaged over a part of its steps. */
enum { POINTS = 40 };

/* State of a run while its rows are read. */
struct walk {
	FILE *out;
	int series, run;
	double target_pct; /* asked for; NAN: none */
	double epochs_s; /* of the epochs before */
	double steps_s;	 /* of this epoch's steps */
	double loss, loss_s;
	long in_point, per_point;
	int written;
};

/* Returns 1 for a step, or for all steps of an epoch that were timed
 * together. */
static int is_steps(const struct observation *row)
{
	return plot_counts(row) && (!strcmp(row->phase, "step") ||
			       !strcmp(row->phase, "steps"));
}

static void write_point(struct walk *walk, double seconds, double train_loss,
			double test_loss, double accuracy)
{
	fprintf(walk->out, "%d,%d,%s,%s,%s,%s,%s,-\n", walk->series, walk->run,
		plot_number(seconds).text, plot_number(train_loss).text,
		plot_number(test_loss).text, plot_number(accuracy).text,
		plot_number(walk->target_pct).text);
	walk->written++;
}

static void end_point(struct walk *walk)
{
	if (walk->in_point)
		write_point(walk, walk->loss_s / (double)walk->in_point,
			    walk->loss / (double)walk->in_point, NAN, NAN);
	walk->in_point = 0;
	walk->loss = walk->loss_s = 0;
}

static void walk_step(struct walk *walk, const struct observation *row)
{
	walk->steps_s += row->elapsed_s;
	if (!isfinite(row->loss))
		return;
	walk->loss += row->loss;
	walk->loss_s += walk->epochs_s + walk->steps_s;
	if (++walk->in_point >= walk->per_point)
		end_point(walk);
}

/* Writes the training loss over time. Each epoch advances the time by its own
 * elapsed time. */
static void write_training(struct walk *walk,
			   const struct observation *const *rows, size_t count)
{
	long steps = 0;

	for (size_t i = 0; i < count; i++)
		steps += is_steps(rows[i]);
	walk->per_point = (steps + POINTS - 1) / POINTS;
	for (size_t i = 0; i < count; i++) {
		if (!plot_counts(rows[i]))
			continue;
		if (is_steps(rows[i]))
			walk_step(walk, rows[i]);
		if (strcmp(rows[i]->phase, "epoch"))
			continue;
		walk->epochs_s += rows[i]->elapsed_s;
		walk->steps_s = 0;
	}
	end_point(walk);
	fputc('\n', walk->out);
}

/* A test is the last of its epoch, whose row comes after it. */
static void write_tests(struct walk *walk,
			const struct observation *const *rows, size_t count)
{
	const struct observation *test = NULL;
	double seconds = 0;

	for (size_t i = 0; i < count; i++) {
		if (!plot_counts(rows[i]))
			continue;
		if (!strcmp(rows[i]->phase, "test"))
			test = rows[i];
		if (strcmp(rows[i]->phase, "epoch"))
			continue;
		seconds += rows[i]->elapsed_s;
		if (test)
			write_point(walk, seconds, NAN, test->loss,
				    test->accuracy_pct);
		test = NULL;
	}
	fputc('\n', walk->out);
}

int plot_write_learning(FILE *out, const struct plot *plot,
			struct plot_note *note, struct error *err)
{
	const struct observation *const *rows;
	const struct run *run;
	size_t count;
	int more = 0;

	(void)err;
	fputs("series,run,seconds,train_loss,test_loss,accuracy,target,"
	      "label\n", out);
	for (int i = 0; i < plot->series_count; i++) {
		struct walk walk = { .out = out, .series = note->rows };

		if (!plot_is_trained(&plot->series[i]))
			continue;
		walk.target_pct =
			line_target_accuracy(plot->series[i].result->line);
		for (int r = 0; (run = plot_run(&plot->series[i], r)); r++) {
			more += r >= PLOT_MOST_RUNS;
			if (r >= PLOT_MOST_RUNS)
				continue;
			rows = rows_by_run_find(&plot->rows, run->run_id,
						&count);
			walk.run = r + 1;
			walk.epochs_s = 0;
			write_training(&walk, rows, count);
			write_tests(&walk, rows, count);
		}
		if (walk.written)
			fprintf(out, "%d,,,,,,,%s\n\n", note->rows++,
				plot->series[i].label);
	}
	if (!note->rows)
		snprintf(note->text, sizeof(note->text), "%s",
			 plot_why_empty(plot, "No iteration was finished."));
	else if (more)
		snprintf(note->text, sizeof(note->text), "The first %d runs of "
			 "each target are drawn; %d more are not.",
			 PLOT_MOST_RUNS, more);
	return 0;
}
