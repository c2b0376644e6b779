/* What a check is going to measure, for whoever measures in its way. */
#ifndef BENCH_GATE_CHECK_PLAN_H
#define BENCH_GATE_CHECK_PLAN_H

#include "bench/gate/check.h"

/* How many blocks, and the seed of their order. */
void check_plan_blocks(struct check *check);

/* The targets of these names, or of none the default ones. ERROR_USAGE for what
 * is no target, or is there twice. */
int check_plan_targets(struct check *check, const char *const *names,
		       int count, struct error *err);

/* That the data are there, and how many iterations an epoch has. */
int check_plan_data(struct check *check, struct error *err);

#endif
