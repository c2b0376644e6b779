#include "bench/gate/check_report.h"

#include <string.h>

#include "bench/gate/check_subject.h"
#include "bench/gate/judge_besides.h"
#include "bench/gate/verdicts.h"
#include "bench/record/campaign_rows.h"
#include "bench/system/file.h"
#include "bench/system/terminal.h"
#include "bench/show/export.h"

struct report {
	struct verdict rows[CHECK_MOST_TARGETS];
	struct verdicts verdicts; /* the rows */
	struct verdicts all;	  /* of the folder, those before included */
	struct table_options table;
};

static const struct check_target *find_target(const struct check *check,
					      const char *name)
{
	const struct check_target *target = check->targets;

	while (strcmp(target->name, name))
		target++;
	return target;
}

static int make_report(struct report *report, const struct check *check,
		       const struct judged *rows, int count, struct error *err)
{
	const struct options *options = check->options;
	const struct campaign *campaign = &check->campaign;

	report->verdicts.rows = report->rows;
	report->verdicts.count = (size_t)count;
	for (int i = 0; i < count; i++) {
		struct verdict *verdict = &report->rows[i];

		judge_describe(verdict, &rows[i]);
		if (judge_besides(verdict, campaign, campaign->id, err))
			return -1;
		check_describe(verdict, check,
			       find_target(check, rows[i].target));
		snprintf(verdict->campaign_id, sizeof(verdict->campaign_id),
			 "%s", campaign->id);
		snprintf(verdict->label, sizeof(verdict->label), "%s",
			 campaign->label);
		verdict->order_seed = (long)check->seed;
		snprintf(verdict->inject, sizeof(verdict->inject), "%s",
			 options->inject ? options->inject : "");
	}
	return 0;
}

static int print_csv(FILE *out, const void *context, struct error *err)
{
	const struct report *report = context;

	return verdicts_print_csv(out, &report->verdicts, err);
}

static int print_json(FILE *out, const void *context, struct error *err)
{
	const struct report *report = context;

	return verdicts_print_json(out, &report->verdicts, err);
}

static int print_table(FILE *out, const void *context, struct error *err)
{
	const struct report *report = context;

	return verdicts_print(&report->verdicts, &report->table, out, err);
}

static const struct table_options github = { .format = TABLE_GITHUB,
					     .utf8 = 1 };

static int print_markdown(FILE *out, const void *context, struct error *err)
{
	const struct report *report = context;

	return verdicts_print(&report->verdicts, &github, out, err);
}

static int print_all(FILE *out, const void *context, struct error *err)
{
	const struct report *report = context;

	return verdicts_print(&report->all, &github, out, err);
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
	char markdown[CAMPAIGN_PATH_SIZE];
	const struct {
		const char *path;
		memory_printer *print;
	} files[] = {
		{ export_uses_terminal(&exports) ? NULL : "-", print_table },
		{ markdown, print_all },
		{ exports.csv, print_csv },
		{ exports.json, print_json },
		{ exports.markdown, print_markdown },
	};
	struct report report = { .table = {
		.utf8 = terminal_is_utf8(),
		.color = terminal_uses_color(options->color, out),
	} };
	struct error other;
	int failed;

	if (make_report(&report, check, rows, count, err))
		return -1;
	table_format_find(options->format, &report.table.format);
	campaign_path(markdown, check->campaign.dir, "verdicts.md");
	failed = verdicts_append(check->campaign.dir, report.rows,
				 report.verdicts.count, err) ||
		 verdicts_read(&report.all, check->campaign.dir, err);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (write_one(files[i].path, files[i].print, &report, out,
			      failed ? &other : err))
			failed = -1;
	verdicts_release(&report.all);
	return failed ? -1 : 0;
}
