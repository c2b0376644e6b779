/* The observations of a campaign, put together by the run they are of. */
#ifndef BENCH_RUN_ROWS_H
#define BENCH_RUN_ROWS_H

#include "bench/campaign.h"
#include "bench/names.h"

struct run_rows {
	struct names ids; /* run_ids, numbered as they first come */
	size_t *starts;	  /* [ids.count + 1], into rows */
	const struct observation **rows;
};

/* Borrows campaign until run_rows_free. Takes a time that grows with the rows,
 * whoever they are of. */
int run_rows_make(struct run_rows *groups, const struct campaign *campaign,
		  struct error *err);

/* The rows of one run, in their order; none is fine. */
const struct observation *const *run_rows_find(const struct run_rows *groups,
					       const char *run_id,
					       size_t *count);

void run_rows_free(struct run_rows *groups); /* all zero is fine */

#endif
