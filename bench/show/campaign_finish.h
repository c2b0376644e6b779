/* The end of a campaign: its numbers and tables, beside its rows. */
#ifndef BENCH_SHOW_CAMPAIGN_FINISH_H
#define BENCH_SHOW_CAMPAIGN_FINISH_H

#include "bench/record/campaign.h"

/*
 * Writes summary.csv and tables.md from all rows, those that other processes
 * added to the folder included; nothing more is measured. What was left by
 * killed processes is told from what still runs by nobody else being there: the
 * last one to finish writes it.
 */
int campaign_finish(struct campaign *campaign, int include_warmup,
		    struct error *err);

#endif
