/* The counters of a check that have to be exactly equal. */
#ifndef BENCH_GATE_JUDGE_COUNTS_H
#define BENCH_GATE_JUDGE_COUNTS_H

#include "bench/gate/judge.h"
#include "bench/record/campaign.h"

/*
 * More launches, reduced bytes or allocations of the head than of the base, in
 * as many iterations, are a regression that needs no statistics, unless the
 * head is faster all the same. Fewer are told, where the verdict leaves room. A
 * counter that one of the arms lacks, or that is not the same in all its
 * processes, says nothing.
 */
void judge_counts(struct judged *row, const struct campaign *campaign,
		  const char *campaign_id);

#endif
