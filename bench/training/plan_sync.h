/* --sync: whether a device is waited for in each iteration. */
#ifndef BENCH_TRAINING_PLAN_SYNC_H
#define BENCH_TRAINING_PLAN_SYNC_H

#include "bench/options/options.h"
#include "bench/training/target.h"
#include "bench/training/training.h"

/* ERROR_USAGE for a target that cannot run ahead, and for options that look
 * at single iterations. */
int plan_sync(struct training *training, const struct target *target,
	      const struct options *options, struct error *err);

#endif
