/* Handles a child's rows for `bench run` while the child runs: saves them, then
 * shows progress. */
#ifndef BENCH_LAUNCH_COLLECTOR_H
#define BENCH_LAUNCH_COLLECTOR_H

#include <stdio.h>

#include "bench/launch/child.h"
#include "bench/record/campaign.h"
#include "bench/report/progress.h"

struct collector {
	struct campaign *campaign;
	struct progress progress; /* started by the caller */
	const struct progress *other; /* progress that the caller draws itself,
					 or NULL */
	FILE *log;		  /* notes; NULL = none */
	double saved_at;
	int failing;	 /* 1 if the last attempt to save failed */
	int interrupted; /* 1 if the note about the interrupt was printed */
	struct observation epoch; /* last epoch that ended */
	int epoch_over;		  /* 1 if epoch has ended and its rows are not
				     saved yet */
	int epoch_waits; /* 1 if epoch is shown once its rows are saved */
};

/* Returns a sink that passes a child's rows to collector. */
struct row_sink collector_sink(struct collector *collector);

#endif
