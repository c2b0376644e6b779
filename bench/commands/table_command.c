#include "bench/commands/commands.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/commands/columns.h"
#include "bench/gate/verdict.h"
#include "bench/report/export.h"
#include "bench/report/table.h"
#include "bench/system/command_line.h"
#include "bench/system/terminal.h"

/* Reads the verdicts of the folders' checks. */
static int read_verdicts(struct verdicts *verdicts,
			 const struct options *options, struct error *err)
{
	for (int i = 0; i < options->argument_count; i++)
		if (verdicts_read(verdicts, options->arguments[i], err))
			return -1;
	return 0;
}

/* Returns 1 if there are runs other than processes of checks. */
static int has_results(const struct campaign *campaign)
{
	for (size_t i = 0; i < campaign->run_count; i++)
		if (!campaign->runs[i].arm[0])
			return 1;
	return campaign->run_count == 0;
}

/* The paths, as a shell takes them; what does not fit is left out. */
static void join_paths(char *text, size_t size,
		       const struct options *options)
{
	text[0] = '\0';
	for (int i = 0; i < options->argument_count; i++)
		command_line_append(text, size, options->arguments[i]);
}

/* Runs that are of no check, and their exports. */
static int print_runs(const struct campaign *campaign,
		      const struct options *options,
		      const struct table_options *table, FILE *out,
		      struct error *err)
{
	if (!export_uses_terminal(options) &&
	    table_print(campaign, table, out, err))
		return -1;
	return export_write(campaign, options, table, out, err);
}

/* Prints the verdicts of checks, and the other runs if there are any. */
static int print_both(const struct options *options,
		      const struct campaign *campaign,
		      const struct table_options *table, FILE *out, FILE *log,
		      struct error *err)
{
	const int shown = !export_uses_terminal(options);
	struct verdicts verdicts = { 0 };
	int failed;

	failed = read_verdicts(&verdicts, options, err) ||
		 (shown && verdicts_print(&verdicts, table, out, err));
	if (failed)
		;
	else if (has_results(campaign)) {
		if (shown && verdicts.count)
			fputc('\n', out);
		if (shown && verdicts.count && !options->quiet &&
		    export_is_wanted(options))
			fprintf(log, "note: the exports have runs only; the "
				"verdicts of checks are in verdicts.csv of "
				"their folders\n");
		failed = print_runs(campaign, options, table, out, err);
	} else if (verdicts.count) {
		failed = verdicts_export(&verdicts, options, out, err);
	} else {
		failed = error_set(err, ERROR_INPUT, "%s: a check that reached "
				   "no verdict; its rows are in "
				   "observations.csv", options->arguments[0]);
	}
	verdicts_release(&verdicts);
	return failed ? -1 : 0;
}

static int print_campaign(const struct options *options,
			  const struct campaign *campaign, FILE *out,
			  FILE *log, struct error *err)
{
	char where[1024];
	struct stat status;
	struct table_options table = {
		.with_post = options->with_post,
		.include_warmup = options->include_warmup,
		.utf8 = terminal_is_utf8(),
		.color = terminal_uses_color(options->color, out),
		.width = terminal_columns(out),
		.quiet = options->quiet,
		.where = where,
		.is_folder = options->argument_count == 1 &&
			     !stat(options->arguments[0], &status) &&
			     S_ISDIR(status.st_mode),
	};

	table_format_find(options->format, &table.format);
	join_paths(where, sizeof(where), options);
	table.first = table_is_first(&table, options->details);
	return options->cores ?
		       table_print_cores(campaign, &table, out, err) :
		       print_both(options, campaign, &table, out, log, err);
}

/* A table of runs.csv alone would have a dash where each time is. */
static int check_times(const struct options *options,
		       const struct campaign *campaign, struct error *err)
{
	char folder[PATH_MAX], command[2 * PATH_MAX];

	if (campaign->observation_count)
		return 0;
	for (int i = 0; i < options->argument_count; i++) {
		const char *path = options->arguments[i];
		const char *other = campaign_other_half(path);

		if (!other)
			continue;
		campaign_folder_of(path, folder);
		command_line_hint(command, sizeof(command), "table", folder);
		return error_set(err, ERROR_USAGE, "%.400s: its times are in "
				 "%s next to it: name the folder of both, "
				 "%.500s", path, other, command);
	}
	return 0;
}

static int finish(FILE *out, struct error *err)
{
	if (fflush(out) || ferror(out))
		return error_set(err, ERROR_OUTPUT, "the tables could not be "
				 "written: %s", strerror(errno));
	return 0;
}

/* There is nothing to export for these two. */
static int refuse_exports(const struct options *options, struct error *err)
{
	if ((!options->cores && !options->columns) ||
	    !export_is_wanted(options))
		return 0;
	return error_set(err, ERROR_USAGE, "--export-csv, --export-json and "
			 "--export-markdown have no effect with --%s: leave "
			 "out one of the two", options->cores ? "cores" :
			 "columns");
}

int table_command(const struct options *options, FILE *out, FILE *log,
		  struct error *err)
{
	struct campaign campaign = { 0 };
	int rc = -1;

	if (refuse_exports(options, err))
		return -1;
	if (options->columns) {
		columns_print(out);
		return finish(out, err);
	}
	if (options->argument_count == 0)
		return error_set(err, ERROR_USAGE, "bench table takes the "
				 "folders or CSV files to show, as in: bench "
				 "table results/NAME");
	if (export_check(options, err))
		return -1;
	if (campaign_load(&campaign, options->arguments,
			  options->argument_count, options->cores, log,
			  err) == 0 &&
	    !check_times(options, &campaign, err))
		rc = print_campaign(options, &campaign, out, log, err);
	if (rc == 0)
		rc = finish(out, err);
	campaign_release(&campaign);
	return rc;
}
