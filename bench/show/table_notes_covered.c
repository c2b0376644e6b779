/* What stands under the tables of times: from when to when they are. */
#include <stdio.h>
#include <string.h>

#include "bench/show/table_view.h"

/* How the iterations of a table were timed. */
struct timed {
	int single, single_resident; /* setups' targets: each for itself */
	int ahead;		     /* an epoch's together */
	char names[512];	     /* of those */
};

/* What does not fit is left out. */
static void name_ahead(struct timed *timed, const struct results *results,
		       const struct line *line, const struct run *run)
{
	const int setups =
		results->lines[results->line_count - 1].setup + 1;
	const size_t used = strlen(timed->names);

	snprintf(timed->names + used, sizeof(timed->names) - used, "%s%s%s%s",
		 used ? ", " : "", run->target, setups > 1 ? " of " : "",
		 setups > 1 ? setup_name(line) : "");
}

static struct timed how_timed(const struct results *results)
{
	struct timed timed = { 0 };

	for (int l = 0; l < results->line_count; l++) {
		const struct line *line = &results->lines[l];

		for (int t = 0; t < results->target_count; t++) {
			const struct result *cell = &line->cells[t];

			if (!line_is_setup(line) || !cell->run ||
			    !cell->values[METRIC_ITER].count)
				continue;
			if (run_is_ahead(cell->run)) {
				timed.ahead++;
				name_ahead(&timed, results, line, cell->run);
				continue;
			}
			timed.single++;
			timed.single_resident +=
				!strcmp(cell->run->resident, "yes");
		}
	}
	return timed;
}

/* How many warm-up steps a run had; -1: not the same for all; CELL_NO_INT: no
 * run made any iteration. */
static long warmup_steps(const struct results *results)
{
	long steps = CELL_NO_INT, each;
	int line, target, first = 1;
	const struct result *cell;

	for (line = 0; line < results->line_count; line++)
		for (target = 0; target < results->target_count; target++) {
			cell = &results->lines[line].cells[target];
			if (cell->runs != 1 ||
			    !cell->values[METRIC_ITER].count)
				continue;
			each = (long)cell->warmup_steps;
			steps = first || steps == each ? each : -1;
			if (steps < 0)
				return -1;
			first = 0;
		}
	return steps;
}

static void note_warmup(const struct view *view, const struct timed *timed)
{
	const int included = view->results->include_warmup && timed->single;
	const char *what = included && timed->ahead ?
				   "included, but in no epoch's mean" :
			   included ? "included" : "excluded";
	long steps = warmup_steps(view->results);

	if (steps == CELL_NO_INT)
		return;
	if (steps == 0)
		print_note(view->out, view->options,
			   "no warm-up: what is slow at first is in the mean");
	else if (steps > 0)
		print_note(view->out, view->options,
			   "warm-up: %ld step%s a run, %s", steps,
			   steps == 1 ? "" : "s", what);
	else
		print_note(view->out, view->options,
			   "warm-up steps (not the same number everywhere): %s",
			   what);
}

static void note_single(const struct view *view, const struct timed *timed)
{
	print_note(view->out, view->options,
		   "from the batch in host memory to updated parameters, "
		   "finished; waiting for the loader is outside%s; of several "
		   "cores from the first's begin to the last's end; %s is one "
		   "process's spread of iterations",
		   timed->single_resident ?
			   "; a data set resident on the device is gathered "
			   "and normalised there, inside" : "",
		   plus_minus(view->options));
}

static void note_ahead(const struct view *view, const struct timed *timed)
{
	const int mixed = timed->single > 0;

	print_note(view->out, view->options,
		   "%s%s%sepoch's mean (--sync epoch): the device runs ahead "
		   "within an epoch, so that no iteration has a time or a "
		   "spread; the epoch's is from its first batch to its last "
		   "updated parameters, finished, over its iterations; waiting "
		   "for that first batch is outside; the data set, resident on "
		   "the device, is gathered and normalised there, inside",
		   mixed ? "but of " : "", mixed ? timed->names : "",
		   mixed ? ": " : "");
}

static void note_iterations(const struct view *view)
{
	const struct timed timed = how_timed(view->results);

	if (timed.single || !timed.ahead)
		note_single(view, &timed);
	if (timed.ahead)
		note_ahead(view, &timed);
	note_warmup(view, &timed);
}

void notes_covered(const struct view *view, enum metric metric)
{
	if (metric == METRIC_LOOP)
		print_note(view->out, view->options,
			   "from just before epoch 1 to the end of the last, "
			   "with their tests; start-up is outside");
	else if (metric == METRIC_ITER)
		note_iterations(view);
	else
		print_note(view->out, view->options,
			   "iterations, loader, the whole test set and the "
			   "schedule; %s is one process's spread of epochs",
			   plus_minus(view->options));
}
