#include "bench/campaign_names.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int read_before(const char *path, const char *run_id, struct error *err)
{
	return error_set(err, ERROR_INPUT, "%s: run %s was read before: give "
			 "each folder and file once", path, run_id);
}

/* Each has one row in runs.csv. */
static int add_runs(struct campaign_names *names,
		    const struct campaign *campaign, size_t first,
		    const char *path, struct error *err)
{
	int number, count;
	size_t i;

	for (i = first; i < campaign->run_count; i++) {
		count = names->runs.count;
		number = names_number(&names->runs, campaign->runs[i].run_id,
				      err);
		if (number < 0)
			return -1;
		if (number < count)
			return read_before(path, campaign->runs[i].run_id, err);
	}
	return 0;
}

/* Each has many observations, in one file. */
static int add_observations(struct campaign_names *names,
			    const struct campaign *campaign, size_t first,
			    const char *path, struct error *err)
{
	const struct observation *rows = campaign->observations;
	const int before = names->observations.count;
	int number;
	size_t i;

	for (i = first; i < campaign->observation_count; i++) {
		if (i > first && !strcmp(rows[i].run_id, rows[i - 1].run_id))
			continue;
		number = names_number(&names->observations, rows[i].run_id,
				      err);
		if (number < 0)
			return -1;
		if (number < before)
			return read_before(path, rows[i].run_id, err);
	}
	return 0;
}

int campaign_names_add(struct campaign_names *names,
		       const struct campaign *campaign,
		       size_t first_observation, size_t first_run,
		       const char *path, struct error *err)
{
	if (add_runs(names, campaign, first_run, path, err))
		return -1;
	return add_observations(names, campaign, first_observation, path, err);
}

void campaign_names_free(struct campaign_names *names)
{
	names_free(&names->runs);
	names_free(&names->observations);
}

static int has_rows(const char *folder, const char *name)
{
	static const char *const files[] = { "observations.csv", "runs.csv" };
	char path[PATH_MAX];
	int i, written;

	for (i = 0; i < 2; i++) {
		written = snprintf(path, sizeof(path), "%s/%s/%s", folder, name,
				   files[i]);
		if (written > 0 && written < PATH_MAX &&
		    access(path, R_OK) == 0)
			return 1;
	}
	return 0;
}

int campaign_no_rows(const char *folder, struct error *err)
{
	const struct dirent *entry;
	char meant[NAME_MAX + 1] = "";
	DIR *dir = opendir(folder);

	/* The last by name, because names begin with the time. */
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' &&
		    strcmp(entry->d_name, meant) > 0 &&
		    has_rows(folder, entry->d_name))
			snprintf(meant, sizeof(meant), "%s", entry->d_name);
	if (dir)
		closedir(dir);
	if (!meant[0])
		return error_set(err, ERROR_INPUT, "%s: no rows: expected "
				 "observations.csv and runs.csv of a bench run "
				 "in it", folder);
	return error_set(err, ERROR_INPUT, "%.400s: no rows: expected "
			 "observations.csv and runs.csv of a bench run in it; "
			 "there are such folders in it, as %.400s/%s",
			 folder, folder, meant);
}
