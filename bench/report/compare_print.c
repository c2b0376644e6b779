#include "bench/report/compare.h"

#include <math.h>
#include <string.h>

#include "bench/record/run.h"
#include "bench/report/table_format.h"
#include "bench/report/table_view.h"
#include "bench/system/number.h"
#include "bench/system/text.h"

enum { FIRST, SECOND, RUNS, RATIO, INTERVAL, HEADS };

/* Any of these is of another machine, and not of the same one later. */
static int is_machine(const struct difference *each)
{
	static const char *const columns[] = { "cpu_model", "logical_cpus",
					       "virtualisation" };

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (!strcmp(each->column, columns[i]))
			return 1;
	return 0;
}

/* Prints the difference of the machines first. */
static void print_machine(const struct view *view,
			  const struct comparison *comparison)
{
	const struct difference *each = comparison->differences;
	char text[1024] = "";

	for (size_t i = 0; i < comparison->difference_count; i++, each++)
		if (is_machine(each))
			text_list(text, sizeof(text), "", "; ", "%s%s%s: first "
				  "%s, second %s", each->column,
				  each->target ? " of " : "",
				  each->target ? each->target : "",
				  each->first, each->second);
	if (text[0])
		view_note(view, "another machine: %s", text);
}

static void print_differences(const struct view *view,
			      const struct comparison *comparison)
{
	const struct difference *each = comparison->differences;

	for (size_t i = 0; i < comparison->difference_count; i++, each++)
		if (!is_machine(each))
			view_note(view, "differs: %s: %s%s%s: first %s, second "
				  "%s", each->group, each->column,
				  each->target ? " of " : "",
				  each->target ? each->target : "",
				  each->first, each->second);
	if (!comparison->difference_count)
		view_note(view, "no recorded difference in machine, build, "
			  "options, data set or variables");
}

/* A target that is not in both with finished runs. */
static void print_uncompared(const struct view *view,
			     const struct comparison *comparison,
			     const char *target)
{
	const int first = compare_has_runs(comparison->first, target);
	const int second = compare_has_runs(comparison->second, target);

	if (!first || !second)
		view_note(view, "%s is not compared: %s has finished runs of "
			  "it", target, first ? "only the first" :
			  second ? "only the second" : "neither");
}

/* Prints the other notes, each once for both sides. */
static void print_rest(const struct view *view,
		       const struct comparison *comparison)
{
	const struct results *first = comparison->first;
	const struct results *second = comparison->second;

	for (int i = 0; i < first->target_count; i++)
		print_uncompared(view, comparison, first->targets[i]);
	for (int i = 0; i < second->target_count; i++)
		if (results_find_target(first, second->targets[i]) < 0)
			print_uncompared(view, comparison, second->targets[i]);
}

/* Prints which runs are pooled, and which runs are in no median. */
static void print_side(const struct view *view, const struct results *results,
		       const char *side, const char *name)
{
	const int setups = setup_count(results);
	size_t left_out = 0;
	char disturbed[1024];

	view_note(view, "%s: %s", side, name);
	if (setups > 1)
		view_note(view, "the %s holds %d campaigns, whose runs are "
			  "taken together", side, setups);
	for (size_t i = 0; i < results->run_count; i++)
		left_out += strcmp(results->runs[i].status, "ok") != 0;
	if (left_out)
		view_note(view, "%zu of the %zu runs of the %s did not finish "
			  "and are left out", left_out, results->run_count,
			  side);
	disturbed_text(results, disturbed, sizeof(disturbed));
	if (disturbed[0])
		view_note(view, "%s: %s", side, disturbed);
}

static void fill_row(const struct grid *grid, int at,
		     const struct compare_row *row)
{
	const struct compared_metric *kind = row->kind;
	const double larger = fmax(row->median_first, row->median_second);
	const int in_ms = !kind->factor && larger < 1;
	const double factor = kind->factor ? kind->factor : in_ms ? 1e3 : 1;

	if (kind->factor)
		snprintf(grid->labels[at], GRID_TEXT, "%s", row->label);
	else
		snprintf(grid->labels[at], GRID_TEXT, "%s (%s)", row->label,
			 in_ms ? "ms" : "s");
	grid_set_number(grid, at, FIRST, row->median_first * factor,
			kind->decimals);
	grid_set_number(grid, at, SECOND, row->median_second * factor,
			kind->decimals);
	grid_set_number(grid, at, RATIO, row->ratio, 3);
	snprintf(grid_at(grid, at, RUNS)->text, GRID_TEXT, "%ld, %ld",
		 row->n_first, row->n_second);
	if (isfinite(row->ratio_lo))
		snprintf(grid_at(grid, at, INTERVAL)->text, GRID_TEXT, "%s",
			 interval_text(row->ratio_lo, row->ratio_hi, 3).text);
}

/* Draws the rows of one target, which are consecutive; moves *at past them. */
static int draw_target(const struct view *view,
		       const struct comparison *comparison, size_t *at,
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
	int count = 0, shown = 0;

	while (*at + (size_t)count < comparison->row_count &&
	       strcmp(rows[count].target, rows[0].target) == 0)
		shown += !rows[count++].unequal;
	*at += (size_t)count;
	if (!shown)
		return 0;
	if (grid_make(&grid, heads, HEADS, shown, err))
		return -1;
	clean_text(target, sizeof(target), rows[0].target, view->options);
	snprintf(grid.title, GRID_TEXT, "%s, medians over runs", target);
	for (int i = 0, row = 0; i < count; i++)
		if (!rows[i].unequal)
			fill_row(&grid, row++, &rows[i]);
	grid_end(&grid, view->options, view->out);
	return 0;
}

/* Prints a row that the tables leave out, with the other rows of its target
 * that have the same reason. */
static void print_unequal(const struct view *view,
			  const struct comparison *comparison, size_t at)
{
	const struct compare_row *row = &comparison->rows[at];
	char list[256] = "";

	for (size_t i = 0; i < comparison->row_count; i++) {
		const struct compare_row *each = &comparison->rows[i];

		if (!each->unequal || strcmp(each->target, row->target) ||
		    strcmp(each->reason, row->reason))
			continue;
		if (i < at)
			return;
		text_list(list, sizeof(list), "", ", ", "%s", each->label);
	}
	view_note(view, "%s: not compared, as the work differs (%s): %s",
		  row->target, row->reason, list);
}

static void print_notes(const struct view *view,
			const struct comparison *comparison)
{
	const struct compare_row *row = comparison->rows;
	int one = 0, few = 0;

	for (size_t i = 0; i < comparison->row_count; i++, row++) {
		one |= row->n_first == 1 || row->n_second == 1;
		few |= isfinite(row->ratio) && !isfinite(row->ratio_lo);
		if (row->unequal)
			print_unequal(view, comparison, i);
		else if (!isfinite(row->ratio))
			view_note(view, "%s, %s: no ratio: %s", row->target,
				  row->label, row->reason);
	}
	view_note(view, "second / first is Hodges and Lehmann's estimate, the "
		  "median of the ratios of all pairs of runs. Its 95 %% "
		  "interval is exact, by Wilcoxon's rank sum across runs, if "
		  "nothing but the campaign changed. One in twenty such "
		  "intervals misses by chance");
	if (few)
		view_note(view, "no interval: 95 %% need at least 4 runs on "
			  "each side (bench run --repeat 4)");
	if (one)
		view_note(view, "n=1: one run says nothing about the spread "
			  "across runs");
	view_note(view, "the campaigns were measured at different times, and "
		  "changes of the machine are in the ratios: this is not a "
		  "verdict");
}

int compare_print(const struct comparison *comparison,
		  const struct table_options *options, FILE *out,
		  struct error *err)
{
	const struct view view = { .options = options, .out = out };
	size_t at = 0;

	print_machine(&view, comparison);
	print_side(&view, comparison->first, "first", comparison->first_name);
	print_side(&view, comparison->second, "second",
		   comparison->second_name);
	print_differences(&view, comparison);
	print_rest(&view, comparison);
	fputc('\n', out);
	while (at < comparison->row_count)
		if (draw_target(&view, comparison, &at, err))
			return -1;
	print_notes(&view, comparison);
	return 0;
}
