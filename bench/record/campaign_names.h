/*
 * Names of runs and of their folders. Two processes of one name would be taken
 * for one: the same rows twice.
 */
#ifndef BENCH_RECORD_CAMPAIGN_NAMES_H
#define BENCH_RECORD_CAMPAIGN_NAMES_H

#include "bench/system/memory.h"
#include "bench/record/campaign.h"

/* The run_ids that were read so far. */
struct campaign_names {
	struct names runs;
	struct names observations[CAMPAIGN_FILES]; /* each has its own */
};

/*
 * Adds those of the rows of campaign from these on, which were read from path.
 * One that was there before is ERROR_INPUT.
 */
int campaign_names_add(struct campaign_names *names,
		       const struct campaign *campaign,
		       size_t first_observation, size_t first_run,
		       const char *path, struct error *err);

void campaign_names_free(struct campaign_names *names); /* all zero is fine */

#endif
