#include "bench/record/campaign_names.h"

#include <string.h>

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

/* Each has many observations, those of a clock in one file. */
static int add_observations(struct names *names, int modelled,
			    const struct campaign *campaign, size_t first,
			    const char *path, struct error *err)
{
	const struct observation *rows = campaign->observations;
	const int before = names->count;
	const char *last = NULL;
	int number;
	size_t i;

	for (i = first; i < campaign->observation_count; i++) {
		if (observation_is_modelled(&rows[i]) != modelled ||
		    (last && !strcmp(rows[i].run_id, last)))
			continue;
		last = rows[i].run_id;
		number = names_number(names, last, err);
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
	int file;

	if (add_runs(names, campaign, first_run, path, err))
		return -1;
	for (file = 0; file < CAMPAIGN_FILES; file++)
		if (add_observations(&names->observations[file],
				     file == CAMPAIGN_MODELLED, campaign,
				     first_observation, path, err))
			return -1;
	return 0;
}

void campaign_names_free(struct campaign_names *names)
{
	names_free(&names->runs);
	for (int file = 0; file < CAMPAIGN_FILES; file++)
		names_free(&names->observations[file]);
}
