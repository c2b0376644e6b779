/* The observations of a campaign, grouped by run. */
#ifndef BENCH_RECORD_ROWS_BY_RUN_H
#define BENCH_RECORD_ROWS_BY_RUN_H

#include "bench/record/campaign.h"
#include "bench/system/memory.h"

struct rows_by_run {
	struct names ids; /* run_ids, numbered in the order of their first
			     row */
	size_t *starts;	  /* [ids.count + 1], into rows */
	const struct observation **rows;
};

/* Groups all observations. Borrows campaign until rows_by_run_free(). The time
 * is linear in the number of rows. */
int rows_by_run_make(struct rows_by_run *groups,
		     const struct campaign *campaign, struct error *err);

/* Returns the rows of one run in their order, and *count; 0 is allowed. */
const struct observation *const *
rows_by_run_find(const struct rows_by_run *groups, const char *run_id,
		 size_t *count);

void rows_by_run_free(struct rows_by_run *groups); /* all zero is allowed */

#endif
