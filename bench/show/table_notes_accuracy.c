/* What stands under a table of times to an accuracy. */
#include <string.h>

#include "bench/show/table_view.h"

static void note_score(const struct view *view, const struct line *line)
{
	int target, trimmed = 0, most = 0;

	for (target = 0; target < view->results->target_count; target++) {
		const struct accuracy_score *score =
			&line->cells[target].score;

		trimmed |= score->trimmed;
		most = score->runs > most ? score->runs : most;
	}
	if (trimmed)
		print_note(view->out, view->options,
			   "score: the mean without the fastest and the "
			   "slowest of %d or more runs; a run that does not "
			   "reach it counts as infinitely slow: one may be the "
			   "slowest, two make the score invalid", SCORE_FEWEST);
	else
		print_note(view->out, view->options,
			   "score: %s; a run that does not reach it counts as "
			   "infinitely slow and makes the score invalid; from "
			   "%d runs on it is the mean without the fastest and "
			   "the slowest",
			   most == 1 ? "that of the only run" :
				       "the plain mean",
			   SCORE_FEWEST);
}

/* Whether the targets train by the same mathematics. */
static void note_mode(const struct view *view, const struct line *line)
{
	long batch = CELL_NO_INT, each;
	const struct line *runs;
	int i, target, count, differ = 0;

	runs = line_runs(line, &count);
	for (i = 0; i < count; i++)
		for (target = 0; target < view->results->target_count;
		     target++) {
			if (!runs[i].cells[target].run)
				continue;
			each = runs[i].cells[target].run->global_batch;
			differ |= each != CELL_NO_INT && batch != CELL_NO_INT &&
				  each != batch;
			batch = each != CELL_NO_INT ? each : batch;
		}
	if (differ)
		print_note(view->out, view->options,
			   "weak: the targets make their updates from global "
			   "batches of different sizes, and so do not train "
			   "alike");
	else if (batch == CLOSED_GLOBAL_BATCH)
		print_note(view->out, view->options,
			   "closed: all make their updates from a global batch "
			   "of %ld, and so train by the same mathematics",
			   batch);
	else if (batch != CELL_NO_INT)
		print_note(view->out, view->options,
			   "all make their updates from a global batch of %ld, "
			   "and so train alike, but not as in the closed mode, "
			   "which has %d", batch, CLOSED_GLOBAL_BATCH);
}

void notes_accuracy(const struct view *view, const struct line *line,
		    double accuracy)
{
	print_note(view->out, view->options,
		   "from before the data set is read to the end of the first "
		   "test that reaches %g %%, tests included; start-up is "
		   "process, device, kernels and warm-up on generated data: "
		   "what it takes beyond %g s is added; start-up and epochs "
		   "are means",
		   accuracy, UNTIMED_CAP_S);
	note_score(view, line);
	print_note(view->out, view->options,
		   "runs that do, at least: of all runs made like these; the "
		   "exact one-sided 95 %% bound (Clopper and Pearson) for each "
		   "target. That a run ends at its first test that reaches "
		   "%g %% does not say that the mean of such tests does",
		   accuracy);
	note_mode(view, line);
}
