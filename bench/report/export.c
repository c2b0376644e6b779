#include "bench/report/export.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/record/csv.h"
#include "bench/record/json.h"
#include "bench/record/result_rows.h"
#include "bench/system/append.h"
#include "bench/system/file.h"

/* Context of the printers below. */
struct exported {
	const struct campaign *campaign;
	const struct results *results;
	const struct table_options *options;
};

static int print_csv(FILE *out, const void *context, struct error *err)
{
	const struct exported *report = context;
	const struct result *cell;
	struct export_row row;

	(void)err;
	csv_write_header(out, &export_rows);
	for (int at = 0; (cell = next_cell(report->results, &at));) {
		if (!cell->run || !line_is_setup(cell->line))
			continue;
		export_row_set(&row, cell);
		csv_write_row(out, &export_rows, &row);
	}
	return 0;
}

/* Prints machine and build of the first run that has them. */
static void print_context(FILE *out, const struct exported *report)
{
	static const char *const names[] = {
		"version", "git_commit", "compiler", "cflags", "variables",
		"cpu_model", "logical_cpus", "cpu_quota", "mem_bytes", "os",
		"kernel", NULL
	};
	const struct results *results = report->results;
	size_t i = 0;

	while (i < results->run_count && !results->runs[i].cpu_model[0])
		i++;
	fprintf(out, "{\"include_warmup\": %s, \"machine\": ",
		report->options->include_warmup ? "true" : "false");
	if (i < results->run_count)
		json_write_row(out, &run_rows, &results->runs[i], names);
	else
		fputs("null", out);
	fputc('}', out);
}

static void print_rows(FILE *out, const struct row_kind *kind, const void *rows,
		       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_write_row(out, kind,
			       (const char *)rows + i * kind->row_size, NULL);
	}
}

static int print_json(FILE *out, const void *context, struct error *err)
{
	const struct exported *report = context;
	const struct results *results = report->results;
	struct summary *rows = NULL;
	size_t count = 0;

	if (summary_build(results, &rows, &count, err))
		return -1;
	fputs("{\n\"schema\": ", out);
	json_write_string(out, run_rows.schema);
	fputs(",\n\"context\": ", out);
	print_context(out, report);
	fputs(",\n\"runs\": [", out);
	print_rows(out, &run_rows, results->runs, results->run_count);
	fputs("\n],\n\"summary\": [", out);
	print_rows(out, &summary_rows, rows, count);
	fputs("\n]\n}\n", out);
	free(rows);
	return 0;
}

static int print_markdown(FILE *out, const void *context, struct error *err)
{
	const struct exported *report = context;
	struct table_options options = *report->options;

	options.format = TABLE_GITHUB;
	options.first = 0;
	return table_print(report->campaign, &options, out, err);
}

static int print_summary(FILE *out, const void *context, struct error *err)
{
	const struct exported *report = context;

	return summary_write(report->campaign, report->options->include_warmup,
			     out, err);
}

/* Both are tried; the first failure is reported. */
static int write_reports(const struct campaign *campaign, int include_warmup,
			 struct error *err)
{
	const struct table_options options = {
		.include_warmup = include_warmup, .utf8 = 1,
	};
	const struct exported report = { campaign, NULL, &options };
	char path[CAMPAIGN_PATH_SIZE];
	struct error other;
	int rc;

	campaign_path(path, campaign->dir, "summary.csv");
	rc = file_replace_with(path, print_summary, &report, err);
	campaign_path(path, campaign->dir, "tables.md");
	if (file_replace_with(path, print_markdown, &report, rc ? &other : err))
		rc = -1;
	return rc;
}

int campaign_finish(struct campaign *campaign, int include_warmup,
		    struct error *err)
{
	char path[CAMPAIGN_PATH_SIZE];
	struct campaign all;
	struct error ignored;
	int lock, failed;

	campaign_path(path, campaign->dir, "runs.csv");
	lock = append_lock(path);
	failed = campaign_gather(&all, campaign, &ignored);
	failed = write_reports(failed ? campaign : &all, include_warmup, err);
	campaign_release(&all);
	/* Before the next one may look whether it is alone. */
	campaign_leave(campaign);
	if (lock >= 0)
		close(lock);
	return failed;
}

/* The requested files, in the order of printers. */
struct export_paths {
	const char *paths[EXPORTS];
};

static struct export_paths paths_of(const struct options *options)
{
	return (struct export_paths){ { options->export_csv,
					options->export_json,
					options->export_markdown } };
}

static int is_terminal(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static int count_terminals(const struct options *options)
{
	const struct export_paths all = paths_of(options);
	int terminals = 0;

	for (int i = 0; i < EXPORTS; i++)
		terminals += is_terminal(all.paths[i]);
	return terminals;
}

int export_is_wanted(const struct options *options)
{
	return options->export_csv || options->export_json ||
	       options->export_markdown;
}

int export_uses_terminal(const struct options *options)
{
	return count_terminals(options) > 0;
}

int export_check(const struct options *options, struct error *err)
{
	const struct export_paths all = paths_of(options);

	if (count_terminals(options) > 1)
		return error_set(err, ERROR_USAGE, "only one of --export-csv, "
				 "--export-json and --export-markdown can be "
				 "-, give the others a file");
	for (int i = 0; i < EXPORTS; i++)
		if (all.paths[i] && !is_terminal(all.paths[i]) &&
		    file_check(all.paths[i], err))
			return -1;
	return 0;
}

int export_print(const struct options *options,
		 memory_printer *const printers[EXPORTS], const void *context,
		 FILE *terminal, struct error *err)
{
	const struct export_paths all = paths_of(options);
	struct error other;
	int failed = 0;

	for (int i = 0; i < EXPORTS; i++) {
		const char *path = all.paths[i];
		struct error *first = failed ? &other : err;

		if (path && (is_terminal(path) ?
				     printers[i](terminal, context, first) :
				     file_replace_with(path, printers[i],
						       context, first)))
			failed = -1;
	}
	return failed;
}

int export_write(const struct campaign *campaign,
		 const struct options *options,
		 const struct table_options *table, FILE *terminal,
		 struct error *err)
{
	static memory_printer *const printers[EXPORTS] = {
		print_csv, print_json, print_markdown
	};
	struct results results;
	const struct exported report = { campaign, &results, table };
	int failed;

	if (!export_is_wanted(options))
		return 0;
	if (results_build(&results, campaign, RESULTS_ALL,
			  table->include_warmup, err))
		return -1;
	failed = export_print(options, printers, &report, terminal, err);
	results_free(&results);
	return failed;
}
