/* What a check compared, in words, so that its verdict can be read alone. */
#ifndef BENCH_GATE_CHECK_SUBJECT_H
#define BENCH_GATE_CHECK_SUBJECT_H

#include "bench/gate/check.h"
#include "bench/gate/verdict.h"

/*
 * Fills in both sides, the work, the machine and the time of one target's
 * verdict: from the options, and from the rows that its processes left in this
 * campaign. What these do not tell stays empty.
 */
void check_describe(struct verdict *verdict, const struct check *check,
		    const struct check_target *target);

#endif
