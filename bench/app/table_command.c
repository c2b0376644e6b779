#include "bench/app/table_command.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/gate/verdicts.h"
#include "bench/show/table_cores.h"
#include "bench/app/columns.h"

/* Those of the folders' checks; *count tells how many there are. */
static int print_verdicts(const struct table_command *command,
			  const struct table_options *options, size_t *count,
			  FILE *out, struct error *err)
{
	const int shown = !export_uses_terminal(&command->exports);
	struct verdicts verdicts;
	int failed = 0;

	*count = 0;
	for (int i = 0; i < command->path_count && !failed; i++) {
		failed = verdicts_read(&verdicts, command->paths[i], err);
		if (shown && !failed && verdicts.count && *count)
			fputc('\n', out);
		if (shown && !failed)
			failed = verdicts_print(&verdicts, options, out, err);
		*count += verdicts.count;
		verdicts_release(&verdicts);
	}
	return failed;
}

/* Are there runs besides the processes of checks? */
static int has_results(const struct campaign *campaign)
{
	for (size_t i = 0; i < campaign->run_count; i++)
		if (!campaign->runs[i].arm[0])
			return 1;
	return campaign->run_count == 0;
}

/* The paths, parted by blanks; what does not fit is left out. */
static void join_paths(char *text, size_t size,
		       const struct table_command *command)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < command->path_count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 i ? " " : "", command->paths[i]);
}

static int print_campaign(const struct table_command *command,
			  const struct campaign *campaign, FILE *out,
			  struct error *err)
{
	char where[1024];
	struct stat status;
	struct table_options options = {
		.format = command->format,
		.with_post = command->with_post,
		.include_warmup = command->include_warmup,
		.utf8 = command->utf8,
		.color = command->color,
		.width = command->width,
		.quiet = command->quiet,
		.where = where,
		.is_folder = command->path_count == 1 &&
			     !stat(command->paths[0], &status) &&
			     S_ISDIR(status.st_mode),
	};
	size_t verdicts;

	join_paths(where, sizeof(where), command);
	options.first = table_is_first(&options, command->details);

	if (command->cores)
		return table_print_cores(campaign, &options, out, err);
	if (print_verdicts(command, &options, &verdicts, out, err))
		return -1;
	if (!has_results(campaign))
		return verdicts ? 0 :
			error_set(err, ERROR_INPUT, "%s: a check that did not "
				  "come to a verdict; its rows are in "
				  "observations.csv", command->paths[0]);
	if (!export_uses_terminal(&command->exports)) {
		if (verdicts)
			fputc('\n', out);
		if (table_print(campaign, &options, out, err))
			return -1;
	}
	return export_write(campaign, &command->exports, &options, out, err);
}

static int finish(FILE *out, struct error *err)
{
	if (fflush(out) || ferror(out))
		return error_set(err, ERROR_OUTPUT, "the tables could not be "
				 "written: %s", strerror(errno));
	return 0;
}

int table_command_run(const struct table_command *command, FILE *out,
		      FILE *log, struct error *err)
{
	struct campaign campaign = { 0 };
	int rc = -1;

	if (command->columns) {
		columns_print(out);
		return finish(out, err);
	}
	if (command->path_count == 0)
		return error_set(err, ERROR_USAGE, "bench table takes the "
				 "folders or CSV files to show, as in: bench "
				 "table results/NAME");
	if (export_check(&command->exports, err))
		return -1;
	if (campaign_load(&campaign, command->paths, command->path_count,
			  command->cores, log, err) == 0)
		rc = print_campaign(command, &campaign, out, err);
	if (rc == 0)
		rc = finish(out, err);
	campaign_release(&campaign);
	return rc;
}
