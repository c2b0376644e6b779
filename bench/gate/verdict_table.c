#include "bench/gate/verdict.h"

#include <math.h>
#include <string.h>

#include "bench/gate/gate.h"
#include "bench/report/table_format.h"
#include "bench/system/text.h"

#define LIST_SIZE 512

enum { BASE, HEAD, RATIO, DETECTABLE, VERDICT, COLUMNS };

static int is_stored(const struct verdict *verdict)
{
	return verdict->baseline_processes > 0;
}

static const char *const heads[COLUMNS] = {
	[BASE] = "base", [HEAD] = "head", [RATIO] = "head/base [95 %]",
	[DETECTABLE] = "detects", [VERDICT] = "verdict",
};

/* Four digits show any difference that a check detects. */
static void set_time(const struct grid *grid, int row, int column,
		     double value)
{
	const int before = value > 0 && isfinite(value) ?
				   (int)floor(log10(value)) + 1 : 1;

	if (isfinite(value))
		snprintf(grid_at(grid, row, column)->text, GRID_TEXT, "%.*f",
			 before < 4 ? 4 - before : 0, value);
}

/* Prints a ratio, and its interval if there are enough pairs. */
static void print_ratio(char text[GRID_TEXT], double ratio, double lower,
			double upper)
{
	if (isfinite(lower) && isfinite(upper))
		snprintf(text, GRID_TEXT, "%.3f [%.3f, %.3f]", ratio, lower,
			 upper);
	else
		snprintf(text, GRID_TEXT, "%.3f", ratio);
}

static int is_confirmed(const struct verdict *verdict)
{
	return verdict->confirm_pairs > 0 && isfinite(verdict->confirm_ratio);
}

/* In rows of an older bench, ratio is the screen's. */
static void set_ratio(const struct grid *grid, int row,
		      const struct verdict *verdict)
{
	char *text = grid_at(grid, row, RATIO)->text;

	if (is_confirmed(verdict))
		print_ratio(text, verdict->confirm_ratio, verdict->confirm_lo,
			    verdict->confirm_hi);
	else if (isfinite(verdict->ratio))
		print_ratio(text, verdict->ratio, verdict->ratio_lo,
			    verdict->ratio_hi);
}

static void print_stages(const struct verdict *verdict,
			 const struct table_options *options, FILE *out)
{
	const int is_new = isfinite(verdict->screen_ratio);
	char screen[GRID_TEXT], confirmation[GRID_TEXT];

	if (!is_confirmed(verdict))
		return;
	print_ratio(screen, is_new ? verdict->screen_ratio : verdict->ratio,
		    is_new ? verdict->screen_lo : verdict->ratio_lo,
		    is_new ? verdict->screen_hi : verdict->ratio_hi);
	print_ratio(confirmation, verdict->confirm_ratio, verdict->confirm_lo,
		    verdict->confirm_hi);
	print_note(out, options, "%s: screen %s, flagged for being large; "
		   "confirmation %s in %ld new %s: quote this ratio, which is "
		   "the table's", verdict->target, screen, confirmation,
		   verdict->confirm_pairs,
		   is_stored(verdict) ? "processes" : "pairs");
}

static void set_row(const struct grid *grid, int row,
		    const struct verdict *verdict, double factor,
		    const struct table_options *options)
{
	clean_text(grid->labels[row], GRID_TEXT, verdict->target, options);
	set_time(grid, row, BASE, factor * verdict->base_s);
	set_time(grid, row, HEAD, factor * verdict->head_s);
	set_ratio(grid, row, verdict);
	if (isfinite(verdict->detectable_pct))
		snprintf(grid_at(grid, row, DETECTABLE)->text, GRID_TEXT,
			 "%.1f %%", verdict->detectable_pct);
	snprintf(grid_at(grid, row, VERDICT)->text, GRID_TEXT, "%s",
		 verdict->verdict);
}

/* One unit for the whole table, of its slowest row. */
static const struct unit {
	double factor;
	const char *name;
} units[] = { { 1, "s" }, { 1e3, "ms" }, { 1e6, "us" } };

static const struct unit *choose_unit(const struct verdict *verdicts, int count)
{
	const struct unit *unit = units, *last = units + 2;
	double slowest = 0;

	for (int i = 0; i < count; i++)
		slowest = fmax(slowest, verdicts[i].base_s);
	while (unit < last && slowest * unit->factor < 1)
		unit++;
	return unit;
}

static const char *plural(long count)
{
	return count == 1 ? "" : "s";
}

/* An older bench did not write what was compared. */
static void print_sides(const struct verdict *verdict,
			const struct table_options *options, FILE *out)
{
	if (verdict->base[0])
		print_note(out, options, "base: %s", verdict->base);
	if (verdict->head[0])
		print_note(out, options, "head: %s", verdict->head);
}

static void print_machine(const struct verdict *verdict,
			  const struct table_options *options, FILE *out)
{
	char list[LIST_SIZE] = "";

	if (verdict->cpu_model[0])
		text_list(list, sizeof(list), "", ", ", "%s",
			  verdict->cpu_model);
	if (verdict->logical_cpus > 0)
		text_list(list, sizeof(list), "", ", ", "%ld logical CPU%s",
			  verdict->logical_cpus, plural(verdict->logical_cpus));
	if (verdict->started_utc[0])
		text_list(list, sizeof(list), "", ", ", "started %s",
			  verdict->started_utc);
	if (verdict->label[0])
		text_list(list, sizeof(list), "", ", ", "label %s",
			  verdict->label);
	if (list[0])
		print_note(out, options, "machine: %s", list);
}

static void print_work(const struct verdict *verdict,
		       const struct table_options *options, FILE *out)
{
	char list[LIST_SIZE] = "";

	if (verdict->model[0])
		text_list(list, sizeof(list), "", ", ", "model %s",
			  verdict->model);
	if (verdict->dataset[0])
		text_list(list, sizeof(list), "", ", ", "data set %s",
			  verdict->dataset);
	if (verdict->global_batch > 0)
		text_list(list, sizeof(list), "", ", ", "global batch %ld",
			  verdict->global_batch);
	if (verdict->iterations > 0)
		text_list(list, sizeof(list), "", ", ",
			  "%ld iteration%s per process", verdict->iterations,
			  plural(verdict->iterations));
	if (list[0])
		print_note(out, options, "%s: %s", verdict->target, list);
}

/* Builds may differ between the targets of a stored base. */
static int has_other_sides(const struct verdict *verdict,
			   const struct verdict *before)
{
	return strcmp(verdict->base, before->base) ||
	       strcmp(verdict->head, before->head);
}

static void print_subject(const struct verdict *verdicts, int count,
			  const struct table_options *options, FILE *out)
{
	for (int i = 0; i < count; i++)
		if (!i || has_other_sides(&verdicts[i], &verdicts[i - 1]))
			print_sides(&verdicts[i], options, out);
	if (count)
		print_machine(verdicts, options, out);
	for (int i = 0; i < count; i++)
		print_work(&verdicts[i], options, out);
}

#define BOTH(member, column, name, unit, decimals, factor) \
	{ name, unit, decimals, verdict->base_##member * (factor), \
	  verdict->head_##member * (factor) },

/* A command does not report these, and an older bench not all of them. */
static void print_ungated(const struct verdict *verdict,
			  const struct table_options *options, FILE *out)
{
	const struct {
		const char *name, *unit;
		int decimals;
		double base, head;
	} all[] = { UNGATED(BOTH) };
	char list[LIST_SIZE] = "";

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (isfinite(all[i].base) && isfinite(all[i].head))
			text_list(list, sizeof(list), "", "; ",
				  "%s %.*f and %.*f%s", all[i].name,
				  all[i].decimals, all[i].base,
				  all[i].decimals, all[i].head, all[i].unit);
	if (list[0])
		print_note(out, options, "%s, not gated, base and head: %s",
			   verdict->target, list);
}

static void print_disturbed(const struct verdict *verdict,
			    const struct table_options *options, FILE *out)
{
	char of_all[32] = "";

	if (verdict->redone <= 0 && verdict->disturbed <= 0)
		return;
	/* An older bench did not count them. */
	if (verdict->processes > 0)
		snprintf(of_all, sizeof(of_all), " of %ld", verdict->processes);
	print_note(out, options, "%s: others used the machine: %ld block%s "
		   "measured again, %ld%s process%s still disturbed",
		   verdict->target, verdict->redone,
		   plural(verdict->redone), verdict->disturbed, of_all,
		   (of_all[0] ? verdict->processes : verdict->disturbed) == 1 ?
			   "" : "es");
}

static void print_notes(const struct verdict *verdict,
			const struct table_options *options, FILE *out)
{
	if (verdict->inject[0])
		print_note(out, options, "INJECTED: %s, artificially more work "
			   "in the head (--inject %s)", verdict->target,
			   verdict->inject);
	if (verdict->reason[0])
		print_note(out, options, "%s: %s", verdict->target,
			   verdict->reason);
	if (is_stored(verdict))
		print_note(out, options, "%s: base: %ld processes, %.1f days "
			   "old", verdict->target, verdict->baseline_processes,
			   verdict->baseline_age_days);
	print_stages(verdict, options, out);
	if (verdict->control_pairs > 0)
		print_note(out, options, "%s: control, base over base: %.3f "
			   "[%.3f, %.3f]", verdict->target,
			   verdict->control_ratio, verdict->control_lo,
			   verdict->control_hi);
	print_disturbed(verdict, options, out);
	if (verdict->margin_pct > 100 * gate_rule_default.margin)
		print_note(out, options, "%s: a slowdown counts only from %.1f "
			   "%% on, the noise floor of this machine",
			   verdict->target,
			   verdict->margin_pct);
}

static void print_legend(const struct verdict *verdict,
			 const struct table_options *options, FILE *out)
{
	print_note(out, options, "base and head: each side's own median %s of "
		   "%ld processes%s. head/base is not their quotient, but "
		   "Hodges and Lehmann's estimate%s with its 95 %% interval. "
		   "It is from the confirmation, or without one from the first "
		   "measurement. detects: a slowdown caught in at least nine "
		   "of ten checks (simulated: flagged in 97 %%, confirmed in "
		   "94 %% at that size)",
		   strcmp(verdict->metric, "process_s") ?
			   "of the median iteration" : "time",
		   verdict->pairs, is_stored(verdict) ?
			   ", the base's saved before" : "",
		   is_stored(verdict) ? "" : " over their pairs");
}

static int print_check(const struct verdict *verdicts, int count,
		       const struct table_options *options, FILE *out,
		       struct error *err)
{
	const struct unit *unit = choose_unit(verdicts, count);
	struct grid grid;

	if (grid_make(&grid, heads, COLUMNS, count, err))
		return -1;
	snprintf(grid.title, GRID_TEXT, "Is the head slower? (medians in %s)%s",
		 unit->name, count && verdicts->inject[0] ? " INJECTED" : "");
	snprintf(grid.corner, GRID_TEXT, "Target");
	for (int i = 0; i < count; i++)
		set_row(&grid, i, &verdicts[i], unit->factor, options);
	grid_end(&grid, options, out);
	if (count)
		print_legend(verdicts, options, out);
	print_subject(verdicts, count, options, out);
	for (int i = 0; i < count; i++)
		print_notes(&verdicts[i], options, out);
	for (int i = 0; i < count; i++)
		print_ungated(&verdicts[i], options, out);
	return 0;
}

int verdicts_print(const struct verdicts *verdicts,
		   const struct table_options *options, FILE *out,
		   struct error *err)
{
	size_t first = 0, next;

	for (; first < verdicts->count; first = next) {
		const struct verdict *rows = &verdicts->rows[first];

		for (next = first + 1; next < verdicts->count; next++)
			if (strcmp(verdicts->rows[next].campaign_id,
				   rows->campaign_id))
				break;
		if (first)
			fputc('\n', out);
		if (print_check(rows, (int)(next - first), options, out, err))
			return -1;
	}
	return 0;
}
