/* The observations of a campaign, put together by the run they are of. */
#ifndef BENCH_RECORD_ROWS_BY_RUN_H
#define BENCH_RECORD_ROWS_BY_RUN_H

#include "bench/record/campaign.h"
#include "bench/system/memory.h"

struct rows_by_run {
	struct names ids; /* run_ids, numbered as they first come */
	size_t *starts;	  /* [ids.count + 1], into rows */
	const struct observation **rows;
};

/* Borrows campaign until rows_by_run_free. Takes a time that grows with the
 * rows, whoever they are of. */
int rows_by_run_make(struct rows_by_run *groups,
		     const struct campaign *campaign, struct error *err);

/* The rows of one run, in their order; none is fine. */
const struct observation *const *
rows_by_run_find(const struct rows_by_run *groups, const char *run_id,
		 size_t *count);

void rows_by_run_free(struct rows_by_run *groups); /* all zero is fine */

#endif
