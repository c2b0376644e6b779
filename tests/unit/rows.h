/* For tests: rows of runs whose numbers are known, and a folder for them. */
#ifndef TESTS_ROWS_H
#define TESTS_ROWS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/campaign.h"
#include "tests/unit/folder.h"

/* The whole of a small file, or "" if it is not there. */
static inline const char *read_whole(const char *path)
{
	static char text[1 << 16];
	FILE *file = fopen(path, "rb");
	size_t count = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[count] = '\0';
	if (file)
		fclose(file);
	return text;
}

/* The rows of one run, in the order in which a process prints them. */
struct made {
	struct observation rows[256];
	size_t count;
	struct run run;
};

static inline struct observation *made_add(struct made *made, const char *phase,
					   long epoch, double elapsed_s)
{
	struct observation *row = &made->rows[made->count++];

	row_clear(&observation_rows, row);
	snprintf(row->run_id, sizeof(row->run_id), "%s", made->run.run_id);
	snprintf(row->target, sizeof(row->target), "%s", made->run.target);
	snprintf(row->phase, sizeof(row->phase), "%s", phase);
	snprintf(row->status, sizeof(row->status), "ok");
	row->cores = made->run.cores;
	row->epoch = epoch;
	row->is_warmup = epoch == 0;
	row->elapsed_s = elapsed_s;
	return row;
}

/*
 * Three epochs of four iterations of batch samples, taking s, 2 s, 3 s and 4 s,
 * after two warm-up steps of 100 s. The loader takes 1 s per epoch. Tests reach
 * 98 %, 99 % and 99.5 %. Cores beyond the first have step rows that are all
 * 1000 s, which no table may use.
 */
static inline void made_run(struct made *made, const char *run_id,
			    const char *target, long cores, double s)
{
	static const double reached[] = { 98, 99, 99.5 };
	struct run *run = &made->run;
	struct observation *row;
	long epoch, i, core;

	made->count = 0;
	row_clear(&run_rows, run);
	snprintf(run->run_id, sizeof(run->run_id), "%s", run_id);
	snprintf(run->target, sizeof(run->target), "%s", target);
	snprintf(run->status, sizeof(run->status), "ok");
	snprintf(run->started_utc, sizeof(run->started_utc),
		 "2026-01-31T23:59:59Z");
	run->cores = cores;
	made_add(made, "setup", CELL_NO_INT, .25);
	for (i = 1; i <= 2; i++) {
		row = made_add(made, "step", 0, 100);
		row->iter = i;
		row->samples = 10 * cores;
	}
	for (epoch = 1; epoch <= 3; epoch++) {
		for (i = 1; i <= 4; i++) {
			row = made_add(made, "step", epoch, (double)i * s);
			row->iter = i;
			row->samples = 10 * cores;
			for (core = 0; cores > 1 && core < cores; core++) {
				row = made_add(made, "step", epoch, 1000);
				row->iter = i;
				row->core = core;
			}
		}
		made_add(made, "loader", epoch, 1);
		made_add(made, "compute", epoch, 1);
		row = made_add(made, "test", epoch, 2);
		row->accuracy_pct = reached[epoch - 1];
		row->loss = .1 / (double)epoch;
		made_add(made, "epoch", epoch, 10 * s + 3 + (double)epoch);
	}
	made_add(made, "loop", CELL_NO_INT, 30 * s + 15 + 1);
}

/* Puts the rows into a campaign that is in memory only, the row about the
 * process too if with_run. */
static inline void made_into(struct campaign *campaign, const struct made *made,
			     int with_run)
{
	size_t room = campaign->observation_count + made->count + 1, i;

	campaign->observations = realloc(campaign->observations,
					 room * sizeof(made->rows[0]));
	for (i = 0; i < made->count; i++)
		if (made->rows[i].core == CELL_NO_INT)
			campaign->observations[campaign->observation_count++] =
				made->rows[i];
	if (!with_run)
		return;
	campaign->runs = realloc(campaign->runs, (campaign->run_count + 1) *
						 sizeof(made->run));
	campaign->runs[campaign->run_count++] = made->run;
}

/* How the run that was put in last ended. */
static inline void made_status(struct campaign *campaign, const char *status,
			       const char *reason)
{
	struct run *run = &campaign->runs[campaign->run_count - 1];

	snprintf(run->status, sizeof(run->status), "%s", status);
	snprintf(run->reason, sizeof(run->reason), "%s", reason);
}

#endif
