#include "bench/commands/commands.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/csv.h"
#include "bench/report/compare.h"
#include "bench/report/export.h"
#include "bench/system/file.h"
#include "bench/system/terminal.h"

enum { SIDES = 2 };

/* A campaign, its numbers and its name. */
struct campaign_side {
	struct campaign campaign;
	struct results results;
	char name[1200];
};

static int side_load(struct campaign_side *side, const char *path,
		     const struct options *options, FILE *log,
		     struct error *err)
{
	const struct results *results = &side->results;
	const char *label;
	size_t i, others = 0;

	if (campaign_load(&side->campaign, &path, 1, 0, log, err) ||
	    results_build(&side->results, &side->campaign, RESULTS_ALL,
			  options->include_warmup, err))
		return -1;
	label = results->run_count ? results->runs[0].label : "";
	for (i = 1; i < results->run_count; i++)
		others |= strcmp(results->runs[i].label, label) != 0;
	if (*label && !others)
		snprintf(side->name, sizeof(side->name), "%s", label);
	else
		snprintf(side->name, sizeof(side->name), "%s", path);
	return 0;
}

/* Names the sides by their paths if their labels are equal. */
static void name_by_path(struct campaign_side sides[SIDES],
			 const struct options *options)
{
	int i, same = strcmp(sides[0].name, sides[1].name) == 0;

	for (i = 0; i < SIDES && same; i++)
		snprintf(sides[i].name, sizeof(sides[i].name), "%s",
			 options->arguments[i]);
}

static void note_same(const char *const *paths, FILE *log)
{
	char first[PATH_MAX], second[PATH_MAX];

	if (realpath(paths[0], first) && realpath(paths[1], second) &&
	    !strcmp(first, second))
		fprintf(log, "note: %s and %s are the same campaign: comparing "
			"it with itself\n", paths[0], paths[1]);
}

/* A folder has two files, and each has half of the numbers. */
static void note_half(const char *path, FILE *log)
{
	const char *other = campaign_other_half(path);
	char folder[PATH_MAX];

	campaign_folder_of(path, folder);
	if (other)
		fprintf(log, "note: %s is compared without %s, which was not "
			"given: name the folder %s to use both\n", path, other,
			folder);
}

static void side_release(struct campaign_side *side)
{
	results_free(&side->results);
	campaign_release(&side->campaign);
}

static int print_rows(FILE *out, const void *context, struct error *err)
{
	const struct comparison *comparison = context;
	size_t i;

	(void)err;
	csv_write_header(out, &compare_rows);
	for (i = 0; i < comparison->row_count; i++)
		csv_write_row(out, &compare_rows, &comparison->rows[i]);
	return 0;
}

static int publish(const struct options *options,
		   const struct table_options *table,
		   const struct comparison *comparison, FILE *out,
		   struct error *err)
{
	if (export_uses_terminal(options))
		return print_rows(out, comparison, err);
	if (compare_print(comparison, table, out, err))
		return -1;
	return options->export_csv ?
		       file_replace_with(options->export_csv, print_rows,
					 comparison, err) : 0;
}

/* Every time but start-up. */
static int is_judged(const struct compare_row *row)
{
	return row->kind->factor == 0 && row->kind->metric != METRIC_SETUP;
}

static int has_interval(const struct comparison *comparison,
			const char *target)
{
	for (size_t i = 0; i < comparison->row_count; i++) {
		const struct compare_row *row = &comparison->rows[i];

		if (!strcmp(row->target, target) && is_judged(row) &&
		    isfinite(row->ratio_lo))
			return 1;
	}
	return 0;
}

/* A target of the first campaign that cannot be compared is a failure. */
static int refuse_unknown(const struct comparison *comparison,
			  struct error *err)
{
	char unknown[256] = "";

	for (int t = 0; t < comparison->first->target_count; t++)
		if (!has_interval(comparison, comparison->first->targets[t]))
			error_list(unknown, sizeof(unknown),
				   comparison->first->targets[t]);
	return unknown[0] ? error_set(err, ERROR_NO_VERDICT, "--fail-above: "
				      "%s: no time has an interval, which "
				      "needs four finished runs of the target "
				      "on each side (bench run --repeat 4)",
				      unknown) : 0;
}

/* --fail-above: advice, since another hour may have been the cause. */
static int refuse_slower(const struct comparison *comparison, double percent,
			 struct error *err)
{
	const struct compare_row *worst = NULL;
	char others[40] = "";
	int slower = 0;

	for (size_t i = 0; i < comparison->row_count; i++) {
		const struct compare_row *row = &comparison->rows[i];

		if (!is_judged(row) || !(row->ratio_lo > 1 + percent / 100))
			continue;
		slower++;
		if (!worst || row->ratio > worst->ratio)
			worst = row;
	}
	if (!worst)
		return refuse_unknown(comparison, err);
	if (slower > 1)
		snprintf(others, sizeof(others), ", and %d other times",
			 slower - 1);
	return error_set(err, ERROR_NO_VERDICT, "slower by more than %g %%: "
			 "%s, %s: %.3f [%.3f, %.3f]%s; the campaigns were "
			 "measured at different times: bench check --base-ref "
			 "measures both sides now", percent, worst->target,
			 worst->label, worst->ratio, worst->ratio_lo,
			 worst->ratio_hi, others);
}

int compare_command(const struct options *options, FILE *out, FILE *log,
		    struct error *err)
{
	struct table_options table = {
		.include_warmup = options->include_warmup,
		.utf8 = terminal_is_utf8(),
		.width = terminal_columns(out),
	};
	struct campaign_side sides[SIDES] = { 0 };
	struct comparison comparison = { 0 };
	int i, failed;

	if (options->argument_count != SIDES)
		return error_set(err, ERROR_USAGE, "bench compare takes two "
				 "campaigns, folders or CSV files, as in: "
				 "bench compare results/OLD results/NEW");
	table_format_find(options->format, &table.format);
	if (table.format == TABLE_POST)
		return error_set(err, ERROR_USAGE, "--format: bench compare "
				 "supports plain and github");
	note_same(options->arguments, log);
	for (i = 0; i < SIDES; i++)
		note_half(options->arguments[i], log);
	failed = export_check(options, err);
	for (i = 0; i < SIDES && !failed; i++)
		failed = side_load(&sides[i], options->arguments[i], options,
				   log, err);
	name_by_path(sides, options);
	if (!failed)
		failed = compare_build(&comparison, &sides[0].results,
				       sides[0].name, &sides[1].results,
				       sides[1].name, err) ||
			 publish(options, &table, &comparison, out, err) ||
			 (options->fail_above >= 0 &&
			  refuse_slower(&comparison, options->fail_above, err));
	compare_free(&comparison);
	for (i = 0; i < SIDES; i++)
		side_release(&sides[i]);
	return failed ? -1 : 0;
}
