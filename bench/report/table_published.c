/*
 * Prints a post's figures under the first screen of its network, with ours. Our
 * runs of such networks usually have a few iterations; their times are
 * extrapolated and marked so.
 */
#include <stdio.h>

#include "bench/record/post.h"
#include "bench/report/table_view.h"
#include "bench/system/number.h"
#include "bench/system/text.h"

enum { BATCH, RATE, TIME, FROM, HEADS };

/* Returns 1 if the run trained at least as many images as the post's time is
 * for. */
static int is_whole(const struct run *run, const struct post_network *network)
{
	return !run_is_cut(run) && run->train_samples != CELL_NO_INT &&
	       run->train_samples >= network->images;
}

static void fill_target(const struct view *view, struct grid *grid,
			const struct result *cell,
			const struct post_network *network)
{
	const int row = grid->rows++;
	const double rate = cell->values[METRIC_RATE].mean;
	const long known = run_iterations(cell->run);
	const double steps = known == CELL_NO_INT ?
		cell->values[METRIC_UPDATES].mean : (double)known;
	const double time = (double)network->images / rate / network->unit_s;

	clean_text(grid->labels[row], GRID_TEXT, cell->run->target,
		   view->options);
	grid_set_count(grid, row, BATCH, cell->run->global_batch);
	grid_set_number(grid, row, RATE, rate, decimals_of(rate, 1));
	grid_set_number(grid, row, TIME, time, decimals_of(time, 2));
	if (!is_whole(cell->run, network))
		snprintf(grid_at(grid, row, FROM)->text, GRID_TEXT,
			 "%.0f step%s", steps, steps == 1 ? "" : "s");
}

/* "about 30", "240-300" */
static void fill_range(char text[GRID_TEXT], const double range[2],
		       int is_about)
{
	char from[NUMBER_SIZE], to[NUMBER_SIZE];
	const int is_one = range[0] == range[1];

	number_print(from, range[0]);
	number_print(to, range[1]);
	snprintf(text, GRID_TEXT, "%s%s%s%s", is_about ? "about " : "", from,
		 is_one ? "" : "-", is_one ? "" : to);
}

static void fill_training(struct grid *grid,
			  const struct post_training *training)
{
	const int row = grid->rows++;

	snprintf(grid->labels[row], GRID_TEXT, "post: %s", training->device);
	grid_set_count(grid, row, BATCH, training->global_batch);
	fill_range(grid_at(grid, row, RATE)->text, training->rates,
		   training->is_about);
	fill_range(grid_at(grid, row, TIME)->text, training->times,
		   training->is_about);
}

static int draw(const struct view *view, const struct line *line,
		const struct post_network *network, struct error *err)
{
	const char *const heads[HEADS] = {
		[BATCH] = "global\nbatch",
		[RATE] = "images/s",
		[TIME] = network->unit,
		[FROM] = "extrapolated\nfrom",
	};
	const struct result *cell;
	struct grid grid;

	if (target_grid(view, &grid, heads, HEADS, err))
		return -1;
	snprintf(grid.title, GRID_TITLE, "Training on %ld images, here and in "
		 "%s", network->images, network->post);
	for (int at = 0; (cell = next_target(line, &at));)
		if (cell->values[METRIC_RATE].count)
			fill_target(view, &grid, cell, network);
	for (int i = 0; network->trainings[i].device; i++)
		fill_training(&grid, &network->trainings[i]);
	grid_end(&grid, view->options, view->out);
	return 0;
}

/* Our own speed-ups, of several cores with the batch of the one alone. */
static void speedups_text(const struct line *line, char *text, size_t size)
{
	const struct result *one = line_base(line), *cell;

	text[0] = '\0';
	for (int at = 0; one && (cell = next_target(line, &at));) {
		const struct stats *speedup = &cell->values[METRIC_SPEEDUP];

		if (cell != one && speedup->count &&
		    cell->run->batch != CELL_NO_INT &&
		    cell->run->batch == one->run->batch &&
		    !ratio_doubt(cell, one, speedup).text[0])
			text_list(text, size, "; by images/s at equal batch, "
				  "here: ", ", ", "%s %s times",
				  cell->run->target,
				  fixed_text(speedup->mean, 2).text);
	}
	if (text[0] && line->repetitions == 1)
		text_append(text, size, " (one run each)");
}

int view_published(const struct view *view, const struct line *line,
		   struct error *err)
{
	const struct run *run = find_settings(line);
	const struct post_network *network = run ? post_network_of(run) : NULL;
	char speedups[512];

	if (!network || !line_first_rate(line))
		return 0;
	if (draw(view, line, network, err))
		return -1;
	view_note(view, "%s is history, not a race: other hardware, whose "
		  "timers did not wait for it, one run each", network->post);
	for (int i = 0; network->notes[i]; i++)
		view_note(view, "%s", network->notes[i]);
	speedups_text(line, speedups, sizeof(speedups));
	if (network->speedup)
		view_note(view, "%s%s", network->speedup, speedups);
	return 0;
}
