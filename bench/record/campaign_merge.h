/* Rows of other processes in a folder that several use at once. */
#ifndef BENCH_RECORD_CAMPAIGN_MERGE_H
#define BENCH_RECORD_CAMPAIGN_MERGE_H

#include "bench/record/campaign.h"

/* The runs that own made, as it has them, take the place of what folder, which
 * was read from the files, has of them. */
int campaign_merge(struct campaign *folder, const struct campaign *own,
		   struct error *err);

/* Takes away the rows of processes that have no row about themselves yet. */
int campaign_drop_unfinished(struct campaign *campaign, struct error *err);

#endif
