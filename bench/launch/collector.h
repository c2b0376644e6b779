/*
 * What `bench run` does with the rows of a child while it runs: first they are
 * saved, then the user sees how far it is.
 */
#ifndef BENCH_LAUNCH_COLLECTOR_H
#define BENCH_LAUNCH_COLLECTOR_H

#include <stdio.h>

#include "bench/launch/child.h"
#include "bench/record/campaign.h"
#include "bench/report/progress.h"

struct collector {
	struct campaign *campaign;
	struct progress progress; /* started by the caller */
	const struct progress *other; /* that a caller draws itself, or NULL */
	FILE *log;		  /* notes; NULL: none */
	double saved_at;
	int failing;	 /* the last try to save did not work */
	int interrupted; /* and the user was told */
	struct observation epoch; /* the last one that was over */
	int epoch_over;		  /* and was not shown yet */
	int epoch_waits;	  /* with that until its rows are saved */
};

/* The ear that hands a child's rows to collector. */
struct child_ear collector_ear(struct collector *collector);

#endif
