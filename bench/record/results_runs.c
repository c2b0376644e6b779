/* Collects the runs of results, including runs that have only rows. */
#include "bench/record/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/rows_by_run.h"

/* The runs of runs.csv, and one run of each campaign. */
struct known {
	struct names ids, campaigns;
	const struct run **firsts; /* a run of each campaign that has its
				      settings */
};

static int know_runs(struct known *known, const struct campaign *campaign,
		     struct error *err)
{
	known->firsts = malloc((campaign->run_count + 1) *
			       sizeof(*known->firsts));
	if (!known->firsts)
		return error_memory(err, "runs");
	for (size_t i = 0; i < campaign->run_count; i++) {
		const struct run *run = &campaign->runs[i];
		const int count = known->campaigns.count;
		const int number = names_number(&known->campaigns,
						run->campaign_id, err);

		if (number < 0 ||
		    names_number(&known->ids, run->run_id, err) < 0)
			return -1;
		if (number == count || !known->firsts[number]->model[0])
			known->firsts[number] = run;
	}
	return 0;
}

static void known_free(struct known *known)
{
	names_free(&known->ids);
	names_free(&known->campaigns);
	free(known->firsts);
}

/* The campaign whose number in it is the end of the name of a run: its first
 * run, or NULL. */
static const struct run *find_campaign(const struct run *run,
				       const struct known *known)
{
	const char *end = strrchr(run->run_id, '-');
	char id[sizeof(run->run_id)];
	int number;

	snprintf(id, sizeof(id), "%.*s", end ? (int)(end - run->run_id) : 0,
		 run->run_id);
	number = names_find(&known->campaigns, id);
	return number < 0 ? NULL : known->firsts[number];
}

/* A process of a comparison is no result: see bench/gate/judge.h. */
static int is_compared(const struct run *run)
{
	return run && run->arm[0];
}

/* A run that crashed lacks its settings; its campaign's first run has them. */
static int is_wanted(const struct run *run, const struct known *known,
		     enum results_kind kind)
{
	const int number = names_find(&known->campaigns, run->campaign_id);
	const struct run *knows = run->model[0] || number < 0 ?
					  run : known->firsts[number];

	return kind == RESULTS_ALL ||
	       run_is_inference(knows) == (kind == RESULTS_INFERRED);
}

static const char rows_end[] = "its rows end before the loop did";

/* A file of rows that was cut short has less than the run's row. */
static void mark_cut_rows(struct run *run, const struct rows_by_run *groups)
{
	const int group = names_find(&groups->ids, run->run_id);
	const struct observation *row;
	int rows = 0;

	if (group < 0 || strcmp(run->status, "ok") != 0)
		return;
	for (size_t i = groups->starts[group]; i < groups->starts[group + 1];
	     i++) {
		row = groups->rows[i];
		rows += !observation_is_modelled(row);
		if (!observation_is_modelled(row) &&
		    strcmp(row->phase, "loop") == 0)
			return;
	}
	if (!rows)
		return;
	snprintf(run->status, sizeof(run->status), "partial");
	snprintf(run->reason, sizeof(run->reason), "%s", rows_end);
}

/* Makes the run of a process without a row in runs.csv from its
 * observations. */
static void run_from_rows(struct run *run, const struct known *known,
			  const struct observation *const *rows, size_t count)
{
	const char *status = "partial";
	const char *reason = rows_end;
	const struct run *first;

	row_clear(&run_rows, run);
	snprintf(run->run_id, sizeof(run->run_id), "%s", rows[0]->run_id);
	snprintf(run->target, sizeof(run->target), "%s", rows[0]->target);
	run->cores = rows[0]->cores;
	first = find_campaign(run, known);
	if (first) {
		memcpy(run->campaign_id, first->campaign_id,
		       sizeof(run->campaign_id));
		memcpy(run->label, first->label, sizeof(run->label));
	}
	for (size_t i = 0; i < count; i++) {
		if (strcmp(rows[i]->status, "ok") != 0) {
			status = rows[i]->status;
			reason = rows[i]->reason;
			break;
		}
		/* A row of either clock. */
		if (strcmp(rows[i]->phase, "loop") == 0) {
			status = "ok";
			reason = "";
		}
	}
	snprintf(run->status, sizeof(run->status), "%s", status);
	snprintf(run->reason, sizeof(run->reason), "%s", reason);
}

int results_gather_runs(struct results *results,
			const struct rows_by_run *groups,
			const struct campaign *campaign, enum results_kind kind,
			struct error *err)
{
	const size_t *starts = groups->starts;
	struct known known = { .firsts = NULL };
	int failed = know_runs(&known, campaign, err);

	results->runs = malloc((campaign->run_count +
				(size_t)groups->ids.count + 1) *
			       sizeof(*results->runs));
	if (!results->runs)
		failed = error_memory(err, "runs");
	for (size_t i = 0; i < campaign->run_count && !failed; i++) {
		struct run *run = &results->runs[results->run_count];

		if (is_compared(&campaign->runs[i]) ||
		    !is_wanted(&campaign->runs[i], &known, kind))
			continue;
		*run = campaign->runs[i];
		mark_cut_rows(run, groups);
		results->run_count++;
	}
	for (int group = 0; group < groups->ids.count && !failed; group++) {
		const struct observation **rows = &groups->rows[starts[group]];
		struct run *run = &results->runs[results->run_count];

		if (names_find(&known.ids, rows[0]->run_id) >= 0)
			continue;
		run_from_rows(run, &known, rows,
			      starts[group + 1] - starts[group]);
		results->run_count +=
			!is_compared(find_campaign(run, &known)) &&
			is_wanted(run, &known, kind);
	}
	known_free(&known);
	return failed;
}
