/* The time to an accuracy: a table for each setup that had a target. */
#include <math.h>
#include <string.h>

#include "bench/system/number.h"
#include "bench/record/binomial.h"
#include "bench/show/table_view.h"

enum quantity { REACHED, SHARE, SCORE, MEDIAN, EPOCHS, UNTIMED, QUANTITIES };

/* The mean over the finished runs; NAN if one does not know it. */
static double mean_untimed(const struct line *line, int target)
{
	const struct line *runs;
	int i, count, known = 0;
	double sum = 0;

	runs = line_runs(line, &count);
	for (i = 0; i < count; i++)
		if (runs[i].cells[target].outcome == OUTCOME_OK) {
			sum += time_untimed(runs[i].cells[target].run);
			known++;
		}
	return known ? sum / known : NAN;
}

/* Of all runs that might be made, the share in % that reaches the accuracy:
 * its lower bound, rounded down. */
static double least_share(const struct accuracy_score *score)
{
	const double alpha = .05;
	const double share = binomial_lower((size_t)score->reached,
					    (size_t)score->runs, alpha);

	return floor(1e3 * share + 1e-9) / 10;
}

static void number_text(char text[GRID_TEXT], double value, int decimals)
{
	char number[NUMBER_SIZE];

	number_print_fixed(number, value, decimals);
	if (isfinite(value))
		snprintf(text, GRID_TEXT, "%s", number);
}

static void fill_target(const struct grid *grid, int column,
			const struct line *line, int target)
{
	const struct result *cell = &line->cells[target];
	const struct accuracy_score *score = &cell->score;

	if (!score->runs)
		return;
	snprintf(grid_at(grid, REACHED, column)->text, GRID_TEXT, "%d of %d",
		 score->reached, score->runs);
	number_text(grid_at(grid, SHARE, column)->text, least_share(score), 1);
	snprintf(grid_at(grid, SCORE, column)->text, GRID_TEXT,
		 score->runs == 1 ? "not reached" : "invalid");
	snprintf(grid_at(grid, MEDIAN, column)->text, GRID_TEXT,
		 "not reached");
	number_text(grid_at(grid, SCORE, column)->text, score->mean, 3);
	number_text(grid_at(grid, MEDIAN, column)->text, score->median, 3);
	number_text(grid_at(grid, EPOCHS, column)->text,
		    cell->values[METRIC_EPOCHS_TO_ACCURACY].mean, 1);
	number_text(grid_at(grid, UNTIMED, column)->text,
		    mean_untimed(line, target), 3);
}

static void fill_run(char text[GRID_TEXT], const struct result *cell)
{
	static const char *const names[] = {
		[OUTCOME_NONE] = "-",	       [OUTCOME_OK] = "not reached",
		[OUTCOME_PARTIAL] = "partial", [OUTCOME_ERROR] = "failed",
		[OUTCOME_SKIPPED] = "skipped",
	};

	snprintf(text, GRID_TEXT, "%s", names[cell->outcome]);
	if (cell->outcome == OUTCOME_OK)
		number_text(text, cell->values[METRIC_TIME_TO_ACCURACY].mean,
			    3);
}

/* The seed of a repetition, which all targets share. */
static void label_run(char label[GRID_TEXT], const struct view *view,
		      const struct line *line)
{
	const struct run *run;
	int target;

	for (target = 0; target < view->results->target_count; target++) {
		run = line->cells[target].run;
		if (run && run->seed != CELL_NO_INT) {
			snprintf(label, GRID_TEXT, "seed %ld (s)", run->seed);
			return;
		}
	}
	snprintf(label, GRID_TEXT, "run %d (s)", line->repetition);
}

static void fill(const struct view *view, const struct grid *grid,
		 const struct line *line)
{
	static const char *const labels[QUANTITIES] = {
		[REACHED] = "reached",
		[SHARE] = "runs that do, at least (%)",
		[SCORE] = "score (s)",
		[MEDIAN] = "median (s)",
		[EPOCHS] = "epochs",
		[UNTIMED] = "start-up, not in it (s)",
	};
	const struct line *runs;
	int i, column, count;

	runs = line_runs(line, &count);
	for (i = 0; i < QUANTITIES; i++)
		snprintf(grid->labels[i], GRID_TEXT, "%s", labels[i]);
	for (i = 0; i < count; i++)
		label_run(grid->labels[QUANTITIES + i], view, &runs[i]);
	for (column = 0; column < grid->columns; column++) {
		view_head(view, column, grid->heads[column]);
		fill_target(grid, column, line, view->order[column]);
		for (i = 0; i < count; i++)
			fill_run(grid_at(grid, QUANTITIES + i, column)->text,
				 view_cell(view, &runs[i], column));
	}
}

static int draw(const struct view *view, const struct line *line,
		double accuracy, struct error *err)
{
	struct grid grid = { 0 };
	char label[GRID_TEXT];
	int count;

	line_runs(line, &count);
	if (grid_make(&grid, view->results->target_count, QUANTITIES + count,
		      err))
		return -1;
	view_label(view, line, label);
	snprintf(grid.title, GRID_TITLE, "Time to %g %%: %s", accuracy, label);
	/* The post's tables have no titles. */
	snprintf(grid.corner, GRID_TITLE, "%s",
		 view->options->format == TABLE_POST ? grid.title : "");
	fill(view, &grid, line);
	grid_draw(&grid, view->options, view->out);
	if (!view->options->first) {
		notes_accuracy(view, line, accuracy);
		fputc('\n', view->out);
	}
	grid_free(&grid);
	return 0;
}

int view_accuracy(const struct view *view, struct error *err)
{
	const struct results *results = view->results;
	double accuracy;
	int i;

	for (i = 0; i < results->line_count; i++) {
		accuracy = line_target_accuracy(results, &results->lines[i]);
		if (line_is_setup(&results->lines[i]) && isfinite(accuracy) &&
		    draw(view, &results->lines[i], accuracy, err))
			return -1;
	}
	return 0;
}
