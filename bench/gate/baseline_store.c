#include "bench/gate/baseline_store.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/gate/baseline.h"
#include "bench/gate/pair.h"
#include "bench/record/csv.h"
#include "bench/show/export.h"
#include "bench/system/append.h"
#include "bench/system/file.h"
#include "bench/system/memory.h"

static const char work_name[] = "unfinished-";

/* A folder without rows: is it as good as empty? */
static int check_empty(const char *dir, struct error *err)
{
	const struct dirent *entry;
	DIR *folder = opendir(dir);
	int failed = 0;

	if (!folder && errno == ENOENT)
		return 0;
	if (!folder)
		return error_set(err, ERROR_OUTPUT, "%s: %s", dir,
				 strerror(errno));
	while (!failed && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' &&
		    strncmp(entry->d_name, work_name, strlen(work_name)))
			failed = error_set(err, ERROR_USAGE, "%s: not a "
					   "baseline's folder, it holds %s: "
					   "choose another one", dir,
					   entry->d_name);
	closedir(folder);
	return failed;
}

static int load_stored(struct baseline_store *store, struct error *err)
{
	const char *const paths[] = { store->dir };
	char runs[CAMPAIGN_PATH_SIZE];

	campaign_path(runs, store->dir, "runs.csv");
	if (access(runs, F_OK))
		return check_empty(store->dir, err);
	if (campaign_load(&store->stored, paths, 1, 0, NULL, err))
		return -1;
	for (size_t i = 0; i < store->stored.run_count; i++)
		if (!baseline_has(&store->stored.runs[i]))
			return error_set(err, ERROR_USAGE, "%s: not a "
					 "baseline's folder, it holds other "
					 "results (run %s): choose another one",
					 store->dir,
					 store->stored.runs[i].run_id);
	return 0;
}

static void name_work(struct baseline_store *store, const char *started_utc)
{
	char *to = store->work +
		   snprintf(store->work, sizeof(store->work), "%s/%s",
			    store->dir, work_name);

	for (; *started_utc; started_utc++)
		if (*started_utc != '-' && *started_utc != ':')
			*to++ = *started_utc;
	*to = '\0';
}

void store_print_unfinished(const char *dir, FILE *log)
{
	const struct dirent *entry;
	DIR *folder = opendir(dir);

	while (folder && (entry = readdir(folder)))
		if (!strncmp(entry->d_name, work_name, strlen(work_name)))
			fprintf(log, "note: %s/%s is not in the baseline: its "
				"measurement was interrupted or is still "
				"running; bench table can read it\n", dir,
				entry->d_name);
	if (folder)
		closedir(folder);
}

int store_open(struct baseline_store *store, const char *dir,
	       const char *started_utc, struct error *err)
{
	*store = (struct baseline_store){ 0 };
	if (strlen(dir) >= sizeof(store->dir))
		return error_set(err, ERROR_USAGE, "this name is too long: %s",
				 dir);
	snprintf(store->dir, sizeof(store->dir), "%s", dir);
	name_work(store, started_utc);
	store->made = access(dir, F_OK) != 0;
	if (file_make_folder(dir, err))
		return -1;
	store->in_use = append_share(dir) + 1;
	if (store->in_use && !append_is_alone(store->in_use - 1))
		return error_set(err, ERROR_OUTPUT, "%s: another process is "
				 "saving a baseline there", dir);
	/* Where there are locks nobody replaces it from now on. */
	return load_stored(store, err);
}

void store_release(struct baseline_store *store)
{
	if (store->in_use)
		close(store->in_use - 1);
	campaign_release(&store->stored);
	*store = (struct baseline_store){ 0 };
}

/* Was the block measured once more after this process? */
static int is_outdone(const struct campaign *campaign, const struct run *run)
{
	for (size_t i = 0; i < campaign->run_count; i++) {
		const struct run *other = &campaign->runs[i];

		if (other->stage == run->stage && other->block == run->block &&
		    other->attempt > run->attempt &&
		    !strcmp(other->target, run->target))
			return 1;
	}
	return 0;
}

/* Drops the rows of runs that it does not have. */
static int drop_rows(struct campaign *campaign, struct error *err)
{
	struct observation *rows = campaign->observations;
	struct names ids = { 0 };
	size_t left = 0;
	int failed = 0;

	for (size_t i = 0; !failed && i < campaign->run_count; i++)
		failed = names_number(&ids, campaign->runs[i].run_id, err) < 0;
	for (size_t i = 0; !failed && i < campaign->observation_count; i++)
		if (names_find(&ids, rows[i].run_id) >= 0)
			rows[left++] = rows[i];
	campaign->observation_count = left;
	names_free(&ids);
	return failed;
}

/* Adds what was measured. It is compared with what comes later, with nothing
 * yet: the runs have no arm. */
static int add_measured(struct campaign *to, const struct campaign *from,
			struct error *err)
{
	int failed = 0;

	for (size_t i = 0; !failed && i < from->run_count; i++) {
		struct run run = from->runs[i];

		run.arm[0] = '\0';
		if (run.stage == CHECK_SCREEN && !is_outdone(from, &run))
			failed = campaign_keep_run(to, &run, err);
	}
	for (size_t i = 0; !failed && i < from->observation_count; i++)
		failed = campaign_keep(to, &from->observations[i], err);
	return failed ? -1 : drop_rows(to, err);
}

/* Was its target measured? A pilot may have failed. */
static int is_replaced(const struct run *run, const struct campaign *measured)
{
	for (size_t i = 0; i < measured->run_count; i++)
		if (measured->runs[i].stage == CHECK_SCREEN &&
		    !strcmp(measured->runs[i].target, run->target))
			return 1;
	return 0;
}

/* The first old_runs of stored are what was there before. */
static int drop_replaced(struct campaign *stored, size_t old_runs,
			 const struct campaign *measured, struct error *err)
{
	size_t left = 0;

	for (size_t i = 0; i < stored->run_count; i++)
		if (i >= old_runs || !is_replaced(&stored->runs[i], measured))
			stored->runs[left++] = stored->runs[i];
	stored->run_count = left;
	return drop_rows(stored, err);
}

static int print_runs(FILE *out, const void *context, struct error *err)
{
	const struct campaign *campaign = context;

	(void)err;
	csv_write_header(out, &run_rows);
	for (size_t i = 0; i < campaign->run_count; i++)
		csv_write_row(out, &run_rows, &campaign->runs[i]);
	return 0;
}

static int print_observations(FILE *out, const void *context, struct error *err)
{
	const struct campaign *campaign = context;

	(void)err;
	csv_write_header(out, &observation_rows);
	for (size_t i = 0; i < campaign->observation_count; i++)
		if (!observation_is_modelled(&campaign->observations[i]))
			csv_write_row(out, &observation_rows,
				      &campaign->observations[i]);
	return 0;
}

static void remove_work(const struct campaign *campaign)
{
	const char *const names[] = { campaign_files[CAMPAIGN_MEASURED],
				      campaign_files[CAMPAIGN_MODELLED],
				      "runs.csv" };
	char path[CAMPAIGN_PATH_SIZE];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		campaign_path(path, campaign->dir, names[i]);
		unlink(path);
	}
	rmdir(campaign->dir);
}

void store_discard(struct baseline_store *store,
		   const struct campaign *campaign)
{
	remove_work(campaign);
	if (store->made)
		rmdir(store->dir);
}

/* runs.csv says which rows of observations.csv count: those of both baselines
 * are there while it changes from the one to the other. */
static int replace_files(struct campaign *stored,
			 const struct campaign *measured, struct error *err)
{
	const size_t old_runs = stored->run_count;
	char runs[CAMPAIGN_PATH_SIZE], observations[CAMPAIGN_PATH_SIZE];

	campaign_path(runs, stored->dir, "runs.csv");
	campaign_path(observations, stored->dir, "observations.csv");
	return add_measured(stored, measured, err) ||
	       file_replace_with(observations, print_observations, stored,
				 err) ||
	       drop_replaced(stored, old_runs, measured, err) ||
	       file_replace_with(runs, print_runs, stored, err) ||
	       file_replace_with(observations, print_observations, stored,
				 err) ? -1 : 0;
}

int store_keep(struct baseline_store *store, const struct campaign *campaign,
	       struct error *err)
{
	memcpy(store->stored.dir, store->dir, sizeof(store->dir));
	if (replace_files(&store->stored, campaign, err) ||
	    campaign_finish(&store->stored, 0, err))
		return -1;
	remove_work(campaign);
	return 0;
}
