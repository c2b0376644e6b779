/* The time to an accuracy: a table for each setup that had a target. */
#include <math.h>
#include <string.h>

#include "bench/report/table_view.h"
#include "bench/statistics/stats.h"
#include "bench/system/number.h"

enum quantity { REACHED, SHARE, SCORE, MEDIAN, EPOCHS, UNTIMED, QUANTITIES };

/* Returns the mean over the finished runs; NAN if one lacks it. */
static double mean_untimed(const struct result *cell)
{
	const struct result *each;
	double sum = 0;
	int known = 0;

	for (int at = 0; (each = next_repetition(cell, &at));)
		if (each->outcome == OUTCOME_OK) {
			sum += time_untimed(each->run);
			known++;
		}
	return known ? sum / known : NAN;
}

/* Returns a lower bound, rounded down, of the share of possible runs that reach
 * the accuracy, in %. */
static double least_share(const struct accuracy_score *score)
{
	const double alpha = .05;
	const double share = binomial_lower((size_t)score->reached,
					    (size_t)score->runs, alpha);

	return floor(1e3 * share + 1e-9) / 10;
}

static void fill_target(const struct grid *grid, int column,
			const struct result *cell)
{
	const struct accuracy_score *score = &cell->score;

	if (!score->runs)
		return;
	snprintf(grid_at(grid, REACHED, column)->text, GRID_TEXT, "%d of %d",
		 score->reached, score->runs);
	grid_set_number(grid, SHARE, column, least_share(score), 1);
	snprintf(grid_at(grid, SCORE, column)->text, GRID_TEXT,
		 score->runs == 1 ? "not reached" : "invalid");
	snprintf(grid_at(grid, MEDIAN, column)->text, GRID_TEXT,
		 "not reached");
	grid_set_number(grid, SCORE, column, score->mean, 3);
	grid_set_number(grid, MEDIAN, column, score->median, 3);
	grid_set_number(grid, EPOCHS, column,
			cell->values[METRIC_EPOCHS_TO_ACCURACY].mean, 1);
	grid_set_number(grid, UNTIMED, column, mean_untimed(cell), 3);
}

static void fill_run(const struct grid *grid, int row, int column,
		     const struct result *cell)
{
	static const char *const names[] = {
		[OUTCOME_NONE] = "-",	       [OUTCOME_OK] = "not reached",
		[OUTCOME_PARTIAL] = "partial", [OUTCOME_ERROR] = "failed",
		[OUTCOME_SKIPPED] = "skipped",
	};

	snprintf(grid_at(grid, row, column)->text, GRID_TEXT, "%s",
		 names[cell->outcome]);
	if (cell->outcome == OUTCOME_OK)
		grid_set_number(grid, row, column,
				cell->values[METRIC_TIME_TO_ACCURACY].mean, 3);
}

/* The seed of a repetition, which all targets share. */
static void label_run(char label[GRID_TEXT], const struct line *line)
{
	const struct result *cell;

	snprintf(label, GRID_TEXT, "run %d (s)", line->repetition);
	for (int at = 0; (cell = next_target(line, &at));)
		if (cell->run->seed != CELL_NO_INT) {
			snprintf(label, GRID_TEXT, "seed %ld (s)",
				 cell->run->seed);
			return;
		}
}

static void fill(const struct view *view, const struct grid *grid,
		 const struct line *line)
{
	static const char *const labels[QUANTITIES] = {
		[REACHED] = "reached",
		[SHARE] = "success rate, 95 % lower bound (%)",
		[SCORE] = "score (s)",
		[MEDIAN] = "median (s)",
		[EPOCHS] = "epochs",
		[UNTIMED] = "start-up, not included (s)",
	};
	const struct result *cell;
	int count;
	const struct line *runs = line_runs(line, &count);

	for (int i = 0; i < QUANTITIES; i++)
		snprintf(grid->labels[i], GRID_TEXT, "%s", labels[i]);
	for (int c = 0; (cell = next_column(view, line, &c));)
		fill_target(grid, c - 1, cell);
	for (int i = 0; i < count; i++) {
		label_run(grid->labels[QUANTITIES + i], &runs[i]);
		for (int c = 0; (cell = next_column(view, &runs[i], &c));)
			fill_run(grid, QUANTITIES + i, c - 1, cell);
	}
}

static void note_score(const struct view *view, const struct line *line)
{
	const struct result *cell;
	int trimmed = 0, most = 0;

	for (int at = 0; (cell = next_target(line, &at));) {
		trimmed |= cell->score.trimmed;
		most = cell->score.runs > most ? cell->score.runs : most;
	}
	if (trimmed)
		view_note(view, "score: the mean without the fastest and the "
			  "slowest of %d or more runs. A run that does not "
			  "reach the accuracy counts as infinitely slow: one "
			  "may be the slowest, two make the score invalid",
			  SCORE_FEWEST);
	else
		view_note(view, "score: %s. A run that does not reach the "
			  "accuracy counts as infinitely slow and makes the "
			  "score invalid. With %d runs or more, it is the mean "
			  "without the fastest and the slowest",
			  most == 1 ? "the time of the only run" :
			  "the plain mean",
			  SCORE_FEWEST);
}

/* Notes whether the targets train by the same mathematics. */
static void note_mode(const struct view *view, const struct line *line)
{
	long batch = CELL_NO_INT;
	const struct run *run;
	int differ = 0;

	for (int at = 0; (run = next_run(line, &at));) {
		if (run->global_batch == CELL_NO_INT)
			continue;
		differ |= batch != CELL_NO_INT && run->global_batch != batch;
		batch = run->global_batch;
	}
	if (differ)
		view_note(view, "weak: the targets update from global batches "
			  "of different sizes, so they do not train alike");
	else if (batch == CLOSED_GLOBAL_BATCH)
		view_note(view, "closed: all make their updates from a global "
			  "batch of %ld, and so train by the same mathematics",
			  batch);
	else if (batch != CELL_NO_INT)
		view_note(view, "all make their updates from a global batch of "
			  "%ld, and so train alike, but not as in the closed "
			  "mode, which has %d", batch, CLOSED_GLOBAL_BATCH);
}

static void print_notes(const struct view *view, const struct line *line,
			double accuracy)
{
	view_note(view, "the time begins before the data set is read and ends "
		  "with the first test that reaches %g %%, tests included. "
		  "Start-up is process, device, kernels and warm-up on "
		  "generated data; its time beyond %g s is added. Start-up and "
		  "epochs are means", accuracy, UNTIMED_CAP_S);
	note_score(view, line);
	view_note(view, "success rate: the share of all such runs that reaches "
		  "the accuracy, as an exact one-sided 95 %% bound (Clopper "
		  "and Pearson) per target. A run ends at its first test that "
		  "reaches %g %%; the mean accuracy may be lower", accuracy);
	note_mode(view, line);
}

static int draw(const struct view *view, const struct line *line,
		double accuracy, struct error *err)
{
	char label[GRID_TEXT];
	struct grid grid;

	if (view_grid(view, &grid, QUANTITIES + line->repetitions, err))
		return -1;
	view_label(view, line, NULL, label);
	snprintf(grid.title, GRID_TITLE, "Time to %g %%: %s", accuracy, label);
	/* The post's tables have no titles. */
	snprintf(grid.corner, GRID_TITLE, "%s",
		 view->options->format == TABLE_POST ? grid.title : "");
	fill(view, &grid, line);
	grid_end(&grid, view->options, view->out);
	if (!view->options->first) {
		print_notes(view, line, accuracy);
		fputc('\n', view->out);
	}
	return 0;
}

int view_accuracy(const struct view *view, struct error *err)
{
	const struct line *line;

	for (int at = 0; (line = next_setup(view->results, &at));) {
		const double accuracy = line_target_accuracy(line);

		if (isfinite(accuracy) && draw(view, line, accuracy, err))
			return -1;
	}
	return 0;
}
