/* --sync: whether a device is waited for in each iteration. */
#ifndef BENCH_RUN_PLAN_SYNC_H
#define BENCH_RUN_PLAN_SYNC_H

#include "bench/options/options.h"
#include "bench/run/training.h"

/* Of a target that takes it; ERROR_USAGE for options that look at single
 * iterations. */
int plan_sync(struct training *training, const struct options *options,
	      struct error *err);

#endif
