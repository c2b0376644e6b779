#include "bench/check_report.h"

#include "bench/campaign_rows.h"
#include "bench/csv.h"
#include "bench/export.h"
#include "bench/file.h"
#include "bench/json.h"
#include "bench/table.h"
#include "bench/terminal.h"

struct report {
	struct verdict verdicts[CHECK_MOST_TARGETS];
	int count;
	struct table_options table;
};

static void make_report(struct report *report, const struct check *check,
			const struct judged *rows, int count)
{
	const struct campaign *campaign = &check->campaign;

	report->count = count;
	for (int i = 0; i < count; i++) {
		struct verdict *verdict = &report->verdicts[i];

		judge_describe(verdict, &rows[i]);
		snprintf(verdict->campaign_id, sizeof(verdict->campaign_id),
			 "%s", campaign->id);
		snprintf(verdict->label, sizeof(verdict->label), "%s",
			 campaign->label);
		verdict->order_seed = (long)check->seed;
		if (check->options->inject)
			snprintf(verdict->inject, sizeof(verdict->inject),
				 "%s", check->options->inject);
	}
}

static int print_csv(FILE *out, const void *context, struct error *err)
{
	const struct report *report = context;

	(void)err;
	csv_write_header(out, &verdict_rows);
	for (int i = 0; i < report->count; i++)
		csv_write_row(out, &verdict_rows, &report->verdicts[i]);
	return 0;
}

static int print_json(FILE *out, const void *context, struct error *err)
{
	const struct report *report = context;

	(void)err;
	fputs("{\n  \"schema\": \"bench/1\",\n  \"verdicts\": [", out);
	for (int i = 0; i < report->count; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		json_write_row(out, &verdict_rows, &report->verdicts[i], NULL);
	}
	fputs("\n  ]\n}\n", out);
	return 0;
}

static int print_table(FILE *out, const void *context, struct error *err)
{
	const struct report *report = context;

	return verdict_print_table(report->verdicts, report->count,
				   &report->table, out, err);
}

static int print_markdown(FILE *out, const void *context, struct error *err)
{
	const struct report *report = context;
	const struct table_options github = { .format = TABLE_GITHUB,
					      .utf8 = 1 };

	return verdict_print_table(report->verdicts, report->count, &github,
				   out, err);
}

/* To a file, or to the terminal for "-"; NULL is not wanted. */
static int write_one(const char *path, memory_printer *print,
		     const struct report *report, FILE *out, struct error *err)
{
	if (!path)
		return 0;
	if (path[0] == '-' && !path[1])
		return print(out, report, err);
	return file_replace_with(path, print, report, err);
}

int check_report(const struct check *check, const struct judged *rows,
		 int count, FILE *out, struct error *err)
{
	const struct options *options = check->options;
	const struct export_paths exports = {
		options->export_csv, options->export_json,
		options->export_markdown
	};
	char csv[CAMPAIGN_PATH_SIZE], markdown[CAMPAIGN_PATH_SIZE];
	const struct {
		const char *path;
		memory_printer *print;
	} files[] = {
		{ csv, print_csv },
		{ markdown, print_markdown },
		{ export_uses_terminal(&exports) ? NULL : "-", print_table },
		{ exports.csv, print_csv },
		{ exports.json, print_json },
		{ exports.markdown, print_markdown },
	};
	struct report report = { .table = {
		.utf8 = terminal_is_utf8(),
		.color = terminal_uses_color(options->color, out),
	} };
	struct error other;
	int failed = 0;

	make_report(&report, check, rows, count);
	table_format_find(options->format, &report.table.format);
	campaign_path(csv, check->campaign.dir, "verdicts.csv");
	campaign_path(markdown, check->campaign.dir, "tables.md");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (write_one(files[i].path, files[i].print, &report, out,
			      failed ? &other : err))
			failed = -1;
	return failed;
}
