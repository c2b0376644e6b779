/*
 * Where a baseline is kept. What is measured goes to a folder of its own in it,
 * unfinished-<time>, and takes the place of what was there when it is whole:
 * whoever is killed leaves the old baseline, and all rows.
 */
#ifndef BENCH_GATE_BASELINE_STORE_H
#define BENCH_GATE_BASELINE_STORE_H

#include "bench/record/campaign.h"

struct baseline_store {
	char dir[900];
	char work[960];	     /* for the campaign that measures */
	int made;	     /* dir was not there */
	int in_use;	     /* descriptor + 1 of append_share(); 0: none */
	struct campaign stored; /* what is there */
};

/*
 * Makes the folder, or takes one that is empty or holds a baseline. One with
 * other things is ERROR_USAGE and stays as it is. started_utc is of
 * bench/system/clock.h. Release it also after a failure.
 */
int store_open(struct baseline_store *store, const char *dir,
	       const char *started_utc, struct error *err);

/*
 * Replaces the targets that campaign measured and keeps all others; then the
 * campaign's folder is gone. Of a block that was measured again the last
 * attempt counts. After a failure that folder is there, and the baseline is the
 * old or the new one.
 */
int store_keep(struct baseline_store *store, const struct campaign *campaign,
	       struct error *err);

/* Removes the campaign's folder, of which nothing was measured, and dir too if
 * store_open() made it. */
void store_discard(struct baseline_store *store,
		   const struct campaign *campaign);

/* Says of each folder with rows that did not become the baseline of dir. */
void store_print_unfinished(const char *dir, FILE *log);

void store_release(struct baseline_store *store); /* all zero is fine */

#endif
