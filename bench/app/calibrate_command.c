#include "bench/app/calibrate_command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gate/check.h"
#include "bench/gate/gate.h"
#include "bench/show/table_format.h"
#include "bench/system/terminal.h"

static void gather(struct pair_stage *stages, const struct check *check,
		   const struct rows_by_run *groups, const char *target,
		   int metric)
{
	const struct campaign *campaign = &check->campaign;
	int is_command;

	if (metric == FLOOR_ITER)
		pair_gather(stages, campaign, groups, campaign->id, target,
			    &is_command);
	else
		pair_gather_column(stages, campaign, campaign->id, target,
				   floor_metrics[metric]);
}

static int find_floor(struct floor *floor, const struct pair_stage *stage,
		      uint32_t seed, struct error *err)
{
	double logs[SIGNED_RANK_MOST], ratio;
	const size_t pairs = pair_logs(stage, ARM_HEAD, logs);

	if (!pairs)
		return error_set(err, ERROR_FAILED, "%s: no pair of processes "
				 "reports %s", floor->target, floor->metric);
	if (floor_estimate(&ratio, logs, pairs, seed, err))
		return -1;
	floor->floor_pct = 100 * (ratio - 1);
	floor->pairs = (long)pairs;
	floor->check_pairs = (long)floor_check_pairs(pairs);
	return 0;
}

/* floors are of the check's targets. */
static int find_floors(struct floor (*floors)[FLOOR_METRICS],
		       const struct check *check, struct error *err)
{
	struct pair_stage stages[CHECK_STAGES];
	struct rows_by_run groups = { 0 };
	int failed = rows_by_run_make(&groups, &check->campaign, err);

	for (int t = 0; t < check->target_count; t++)
		for (int m = 0; !failed && m < FLOOR_METRICS; m++) {
			struct floor *floor = &floors[t][m];

			floor_describe(floor, &check->targets[t].pilot);
			snprintf(floor->metric, sizeof(floor->metric), "%s",
				 floor_metrics[m]);
			gather(stages, check, &groups, floor->target, m);
			failed = find_floor(floor, &stages[CHECK_SCREEN],
					    check->seed, err);
		}
	rows_by_run_free(&groups);
	return failed;
}

static void set_row(const struct grid *grid, int row,
		    const struct floor *floors,
		    const struct table_options *options)
{
	clean_text(grid->labels[row], GRID_TEXT, floors->target, options);
	for (int m = 0; m < FLOOR_METRICS; m++)
		snprintf(grid_at(grid, row, m)->text, GRID_TEXT, "%.2f",
			 floors[m].floor_pct);
	snprintf(grid_at(grid, row, FLOOR_METRICS)->text, GRID_TEXT, "%.2f",
		 fmax(100 * gate_rule_default.margin,
		      floors[FLOOR_ITER].floor_pct));
	snprintf(grid_at(grid, row, FLOOR_METRICS + 1)->text, GRID_TEXT, "%ld",
		 floors[FLOOR_ITER].pairs);
}

static int print_table(struct floor (*floors)[FLOOR_METRICS], int targets,
		       const struct options *options, FILE *out,
		       struct error *err)
{
	static const char *const heads[] = { "s/iter", "start-up", "CPU",
					     "margin", "pairs" };
	struct table_options table = {
		.utf8 = terminal_is_utf8(),
		.color = terminal_uses_color(options->color, out),
		.width = terminal_columns(out),
	};
	struct grid grid;

	table_format_find(options->format, &table.format);
	if (grid_make(&grid, FLOOR_METRICS + 2, targets, err))
		return -1;
	snprintf(grid.title, GRID_TEXT, "The noise floor of this machine "
		 "(%%)");
	snprintf(grid.corner, GRID_TEXT, "Target");
	for (int i = 0; i < FLOOR_METRICS + 2; i++)
		snprintf(grid.heads[i], GRID_TEXT, "%s", heads[i]);
	for (int t = 0; t < targets; t++)
		set_row(&grid, t, floors[t], &table);
	grid_draw(&grid, &table, out);
	grid_free(&grid);
	print_note(out, &table, "19 of 20 checks of one program against "
		   "itself, %ld pairs each, differ by less; bench check "
		   "reports anything beyond the margin as slower; start-up and "
		   "CPU seconds are not gated",
		   floors[0][FLOOR_ITER].check_pairs);
	return 0;
}

static int calibrate(struct check *check, FILE *out, FILE *log,
		     struct error *err)
{
	const struct options *options = check->options;
	const char *path = check_floors_path(options);
	struct floor floors[CHECK_MOST_TARGETS][FLOOR_METRICS];
	struct error other;
	int failed;

	if (check_pilot(check, err))
		return -1;
	progress_pause(&check->progress);
	if (check->log && options->blocks != OPTION_UNSET &&
	    options->blocks < FLOOR_LEAST_PAIRS)
		fprintf(log, "note: only %ld blocks: with fewer than %d the "
			"floor may be far too low, and bench check would "
			"report noise as a slowdown\n", options->blocks,
			FLOOR_LEAST_PAIRS);
	if (options->dry_run || check->log)
		check_print_plan(check, options->dry_run ? out : log);
	if (options->dry_run)
		return 0;
	if (check_measure(check, CHECK_SCREEN, 1, err))
		return -1;
	progress_end(&check->progress);
	if (find_floors(floors, check, err))
		return -1;
	failed = floors_replace(path, floors[0], FLOOR_METRICS *
				(size_t)check->target_count, err);
	if (print_table(floors, check->target_count, options, out,
			failed ? &other : err))
		return -1;
	if (!failed && check->log)
		fprintf(log, "floors: %s\nresults: %s\n", path,
			check->campaign.dir);
	return failed;
}

int calibrate_command(const struct options *options, FILE *out, FILE *log,
		      struct error *err)
{
	struct check *check = calloc(1, sizeof(*check));
	int failed;

	if (!check)
		return error_memory(err, "a check");
	check->options = options;
	check->log = options->quiet ? NULL : log;
	failed = check_plan(check, err) ||
		 check_open(check, options->out, err) ||
		 calibrate(check, out, log, err);
	check_release(check);
	free(check);
	return failed ? -1 : 0;
}
