#include "bench/app/baseline_command.h"

#include <stdlib.h>
#include <string.h>

#include "bench/gate/baseline_store.h"
#include "bench/gate/check.h"
#include "bench/system/terminal.h"

static int show(const char *dir, FILE *out, FILE *log, struct error *err)
{
	const struct table_options table = { .utf8 = terminal_is_utf8() };
	struct baseline baseline;
	int failed;

	store_print_unfinished(dir, log);
	failed = baseline_load(&baseline, dir, err) ||
		 baseline_print(&baseline, &table, out, err);

	baseline_release(&baseline);
	return failed ? -1 : 0;
}

struct saving {
	struct check check;
	struct baseline_store store;
};

static int prepare(struct saving *saving, const char *dir, struct error *err)
{
	return check_plan(&saving->check, err) ||
	       store_open(&saving->store, dir, saving->check.started_utc,
			  err) ||
	       check_open(&saving->check, saving->store.work, err) ?
		       -1 : 0;
}

static int measure(struct saving *saving, struct error *err)
{
	struct check *check = &saving->check;

	if (check_pilot(check, err))
		return -1;
	progress_pause(&check->progress);
	if (check->log)
		check_print_plan(check, check->log);
	return check_verify(check, err) ||
	       check_measure(check, CHECK_SCREEN, 1, err) ||
	       store_keep(&saving->store, &check->campaign, err) ? -1 : 0;
}

static void print_rest(struct saving *saving, FILE *log)
{
	const struct campaign *campaign = &saving->check.campaign;

	if (!campaign->dir[0])
		return;
	if (campaign->observation_count) {
		fprintf(log, "note: the measurements are in %s; the baseline "
			"is unchanged\n", saving->store.work);
		return;
	}
	store_discard(&saving->store, campaign);
	fprintf(log, "note: nothing was measured; %s is unchanged\n",
		saving->store.dir);
}

static int save(const struct options *options, const char *dir, FILE *log,
		struct error *err)
{
	struct saving *saving = calloc(1, sizeof(*saving));
	int failed;

	if (!saving)
		return error_memory(err, "a baseline");
	saving->check.options = options;
	saving->check.log = options->quiet ? NULL : log;
	failed = prepare(saving, dir, err) || measure(saving, err);
	progress_end(&saving->check.progress);
	if (failed)
		print_rest(saving, log);
	check_release(&saving->check);
	store_release(&saving->store);
	free(saving);
	return failed ? -1 : 0;
}

int baseline_command(const struct options *options, FILE *out, FILE *log,
		     struct error *err)
{
	const char *const *words = options->arguments;
	const int count = options->argument_count;
	const int saves = count > 0 && !strcmp(words[0], "save");
	int failed;

	if (!saves && (!count || strcmp(words[0], "show")))
		failed = error_set(err, ERROR_USAGE, "bench baseline takes "
				   "save or show%s%.60s%s",
				   count ? ", not '" : ", and a folder",
				   count ? words[0] : "", count ? "'" : "");
	else if (count < 2 || (count > 2 && !saves))
		failed = error_set(err, ERROR_USAGE, saves ?
				   "bench baseline save takes the folder of a "
				   "baseline, and targets" :
				   "bench baseline show takes the folder of a "
				   "baseline, and nothing else");
	else
		failed = (saves && save(options, words[1], log, err)) ||
			 show(words[1], out, log, err);
	return failed ? (int)err->kind : 0;
}
