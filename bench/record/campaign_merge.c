#include "bench/record/campaign_merge.h"

#include <string.h>

#include "bench/system/memory.h"
#include "bench/record/campaign_rows.h"

/* The runs of the campaign id, or all for NULL. */
static int name_runs(struct names *names, const struct campaign *campaign,
		     const char *id, struct error *err)
{
	size_t i;

	for (i = 0; i < campaign->run_count; i++)
		if ((!id || !strcmp(campaign->runs[i].campaign_id, id)) &&
		    names_number(names, campaign->runs[i].run_id, err) < 0)
			return -1;
	return 0;
}

/* Keeps the rows of those, or of all others. */
static void keep_rows(struct campaign *campaign, const struct names *names,
		      int those)
{
	struct observation *rows = campaign->observations;
	size_t i, kept = 0;

	for (i = 0; i < campaign->observation_count; i++)
		if ((names_find(names, rows[i].run_id) >= 0) == those)
			rows[kept++] = rows[i];
	campaign->observation_count = kept;
}

static void drop_runs(struct campaign *campaign, const struct names *names)
{
	struct run *runs = campaign->runs;
	size_t i, kept = 0;

	for (i = 0; i < campaign->run_count; i++)
		if (names_find(names, runs[i].run_id) < 0)
			runs[kept++] = runs[i];
	campaign->run_count = kept;
}

static int add_all(struct campaign *folder, const struct campaign *own,
		   const struct names *names, struct error *err)
{
	size_t i;

	for (i = 0; i < own->run_count; i++)
		if (names_find(names, own->runs[i].run_id) >= 0 &&
		    campaign_keep_run(folder, &own->runs[i], err))
			return -1;
	for (i = 0; i < own->observation_count; i++)
		if (names_find(names, own->observations[i].run_id) >= 0 &&
		    campaign_keep(folder, &own->observations[i], err))
			return -1;
	return 0;
}

int campaign_merge(struct campaign *folder, const struct campaign *own,
		   struct error *err)
{
	struct names names = { 0 };
	int failed = name_runs(&names, own, own->id, err);

	if (!failed) {
		keep_rows(folder, &names, 0);
		drop_runs(folder, &names);
		failed = add_all(folder, own, &names, err);
	}
	names_free(&names);
	return failed;
}

int campaign_drop_unfinished(struct campaign *campaign, struct error *err)
{
	struct names names = { 0 };
	const int failed = name_runs(&names, campaign, NULL, err);

	if (!failed)
		keep_rows(campaign, &names, 1);
	names_free(&names);
	return failed;
}
