#include "bench/gate/baseline_table.h"

#include <string.h>

#include "bench/show/table_format.h"

enum { MEDIAN, PROCESSES, STEPS, LOSS, AGE, COMMIT, COLUMNS };

static const char *const heads[COLUMNS] = {
	[MEDIAN] = "ms/iter",	    [PROCESSES] = "processes",
	[STEPS] = "iterations",	    [LOSS] = "first loss",
	[AGE] = "age (days)",	    [COMMIT] = "commit",
};

static void set_row(const struct grid *grid, int row,
		    const struct baseline_target *target,
		    const struct table_options *options)
{
	struct grid_cell *cells = grid_at(grid, row, 0);

	clean_text(grid->labels[row], GRID_TEXT, target->run->target, options);
	snprintf(cells[MEDIAN].text, GRID_TEXT, "%.6g", 1e3 * target->median);
	snprintf(cells[PROCESSES].text, GRID_TEXT, "%zu", target->count);
	snprintf(cells[STEPS].text, GRID_TEXT, "%ld", target->run->updates);
	snprintf(cells[LOSS].text, GRID_TEXT, "%.6g", target->first_loss);
	snprintf(cells[AGE].text, GRID_TEXT, "%.1f", baseline_age(target));
	if (target->run->git_commit[0])
		clean_text(cells[COMMIT].text, GRID_TEXT,
			   target->run->git_commit, options);
}

static void print_work(const struct run *run,
		       const struct table_options *options, FILE *out)
{
	print_note(out, options, "%s: %s%smodel %s, data set %s, global batch "
		   "%ld, seed %ld, %ld warm-up steps; %s, %ld of %ld CPUs; %s "
		   "%s; started %s by bench %s", run->target, run->label,
		   run->label[0] ? ": " : "", run->model,
		   run->dataset, run->global_batch, run->seed, run->warmup,
		   run->cpu_model, run->cpus, run->logical_cpus,
		   run->device_name, run->device_driver, run->started_utc,
		   run->version);
}

int baseline_print(const struct baseline *baseline,
		   const struct table_options *options, FILE *out,
		   struct error *err)
{
	struct grid grid = { 0 };

	if (grid_make(&grid, COLUMNS, baseline->count, err)) {
		grid_free(&grid);
		return -1;
	}
	snprintf(grid.title, GRID_TEXT, "Saved baseline");
	snprintf(grid.corner, GRID_TEXT, "Target");
	for (int c = 0; c < COLUMNS; c++)
		snprintf(grid.heads[c], GRID_TEXT, "%s", heads[c]);
	for (int t = 0; t < baseline->count; t++)
		set_row(&grid, t, &baseline->targets[t], options);
	grid_draw(&grid, options, out);
	grid_free(&grid);
	print_note(out, options, "ms/iter: the median over fresh processes of "
		   "each one's median iteration");
	for (int t = 0; t < baseline->count; t++)
		print_work(baseline->targets[t].run, options, out);
	return 0;
}
