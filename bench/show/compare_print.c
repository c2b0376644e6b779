#include "bench/show/compare_print.h"

#include <math.h>
#include <string.h>

#include "bench/system/number.h"
#include "bench/record/run.h"
#include "bench/show/table_format.h"

enum { FIRST, SECOND, RUNS, RATIO, INTERVAL, HEADS };

static void print_differences(const struct comparison *comparison,
			      const struct table_options *options, FILE *out)
{
	const struct difference *each = comparison->differences;
	size_t i;

	for (i = 0; i < comparison->difference_count; i++, each++)
		print_note(out, options, "differs: %s: %s%s%s: first %s, "
			   "second %s", each->group, each->column,
			   each->target ? " of " : "",
			   each->target ? each->target : "", each->first,
			   each->second);
	if (!comparison->difference_count)
		print_note(out, options, "nothing differs that is recorded of "
			   "machine, build, options, data set and variables");
}

static int is_common(const struct comparison *comparison, const char *target)
{
	int i;

	for (i = 0; i < comparison->target_count; i++)
		if (strcmp(comparison->targets[i].name, target) == 0)
			return 1;
	return 0;
}

static void print_uncompared(const struct comparison *comparison,
			     const char *target,
			     const struct table_options *options, FILE *out)
{
	print_note(out, options, "%s is not compared: %s has finished runs of "
		   "it", target,
		   compare_has_runs(comparison->first, target) ?
			   "only the first" :
		   compare_has_runs(comparison->second, target) ?
			   "only the second" : "neither");
}

/* Of both, each once. */
static void print_rest(const struct comparison *comparison,
		       const struct table_options *options, FILE *out)
{
	const struct results *first = comparison->first;
	const struct results *second = comparison->second;
	int i, k;

	for (i = 0; i < first->target_count; i++)
		if (!is_common(comparison, first->targets[i]))
			print_uncompared(comparison, first->targets[i],
					 options, out);
	for (i = 0; i < second->target_count; i++) {
		for (k = 0; k < first->target_count; k++)
			if (!strcmp(first->targets[k], second->targets[i]))
				break;
		if (k == first->target_count)
			print_uncompared(comparison, second->targets[i],
					 options, out);
	}
}

/* What is taken together, and the runs that are in no median. */
static void print_side(const struct results *results, const char *side,
		       const char *name, const struct table_options *options,
		       FILE *out)
{
	const int setups = results->lines[results->line_count - 1].setup + 1;
	size_t i, left_out = 0;
	char disturbed[1024];

	print_note(out, options, "%s: %s", side, name);
	if (setups > 1)
		print_note(out, options, "the %s holds %d campaigns, whose "
			   "runs are taken together", side, setups);

	for (i = 0; i < results->run_count; i++)
		left_out += strcmp(results->runs[i].status, "ok") != 0;
	if (left_out)
		print_note(out, options, "%zu of the %zu runs of the %s did "
			   "not finish and are left out", left_out,
			   results->run_count, side);
	disturbed_text(results, disturbed, sizeof(disturbed));
	if (disturbed[0])
		print_note(out, options, "%s: %s", side, disturbed);
}

static void fill_number(struct grid_cell *cell, double value, int decimals)
{
	char number[NUMBER_SIZE];

	number_print_fixed(number, value, decimals);
	if (isfinite(value))
		snprintf(cell->text, GRID_TEXT, "%s", number);
}

static void fill_row(const struct grid *grid, int at,
		     const struct compare_row *row)
{
	const struct compared_metric *how = row->kind;
	const double larger = fmax(row->median_first, row->median_second);
	const int in_ms = !how->factor && larger < 1;
	const double factor = how->factor ? how->factor : in_ms ? 1e3 : 1;
	char number[NUMBER_SIZE], upper[NUMBER_SIZE];

	if (how->factor)
		snprintf(grid->labels[at], GRID_TEXT, "%s", row->label);
	else
		snprintf(grid->labels[at], GRID_TEXT, "%s (%s)", row->label,
			 in_ms ? "ms" : "s");
	fill_number(grid_at(grid, at, FIRST), row->median_first * factor,
		    how->decimals);
	fill_number(grid_at(grid, at, SECOND), row->median_second * factor,
		    how->decimals);
	fill_number(grid_at(grid, at, RATIO), row->ratio, 3);
	snprintf(grid_at(grid, at, RUNS)->text, GRID_TEXT, "%ld, %ld",
		 row->n_first, row->n_second);
	number_print_fixed(number, row->ratio_lo, 3);
	number_print_fixed(upper, row->ratio_hi, 3);
	if (isfinite(row->ratio_lo))
		snprintf(grid_at(grid, at, INTERVAL)->text, GRID_TEXT,
			 "[%s, %s]", number, upper);
}

/* Rows of one target, which are behind each other; *at is moved past them. */
static int draw_target(const struct comparison *comparison, size_t *at,
		       const struct table_options *options, FILE *out,
		       struct error *err)
{
	static const char *const heads[HEADS] = {
		[FIRST] = "first",     [SECOND] = "second",
		[RUNS] = "runs",       [RATIO] = "second / first",
		[INTERVAL] = "95 %",
	};
	const struct compare_row *rows = &comparison->rows[*at];
	char target[GRID_TEXT - 32];
	struct grid grid;
	int i, count = 0;

	while (*at + (size_t)count < comparison->row_count &&
	       strcmp(rows[count].target, rows[0].target) == 0)
		count++;
	if (grid_make(&grid, HEADS, count, err))
		return -1;
	clean_text(target, sizeof(target), rows[0].target, options);
	snprintf(grid.title, GRID_TEXT, "%s, medians over runs", target);
	for (i = 0; i < HEADS; i++)
		snprintf(grid.heads[i], GRID_TEXT, "%s", heads[i]);
	for (i = 0; i < count; i++)
		fill_row(&grid, i, &rows[i]);
	grid_draw(&grid, options, out);
	grid_free(&grid);
	*at += (size_t)count;
	return 0;
}

static void print_notes(const struct comparison *comparison,
			const struct table_options *options, FILE *out)
{
	const struct compare_row *row = comparison->rows;
	int one = 0, few = 0;
	size_t i;

	for (i = 0; i < comparison->row_count; i++, row++) {
		one |= row->n_first == 1 || row->n_second == 1;
		few |= isfinite(row->ratio) && !isfinite(row->ratio_lo);
		if (!isfinite(row->ratio))
			print_note(out, options, "%s, %s: no ratio: %s",
				   row->target, row->label,
				   row->reason);
	}
	print_note(out, options, "second / first is Hodges and Lehmann's "
		   "estimate, the median of the ratios of all pairs of runs; "
		   "its 95 %% interval is exact, by Wilcoxon's rank sum across "
		   "runs, if nothing but the campaign changed; each interval "
		   "stands alone, and one of twenty misses by chance");
	if (few)
		print_note(out, options, "no interval where there are too few "
			   "runs for 95 %%: it needs 4 on each side (bench run "
			   "--repeat 4)");
	if (one)
		print_note(out, options, "n=1: one run says nothing about the "
			   "spread across runs");
	print_note(out, options, "the campaigns were measured one after the "
		   "other, and what the machine did meanwhile is in the "
		   "ratios: this is no verdict");
}

int compare_print(const struct comparison *comparison,
		  const struct table_options *options, FILE *out,
		  struct error *err)
{
	size_t at = 0;

	print_side(comparison->first, "first", comparison->first_name, options,
		   out);
	print_side(comparison->second, "second", comparison->second_name,
		   options, out);
	print_differences(comparison, options, out);
	print_rest(comparison, options, out);
	fputc('\n', out);
	while (at < comparison->row_count)
		if (draw_target(comparison, &at, options, out, err))
			return -1;
	print_notes(comparison, options, out);
	return 0;
}
