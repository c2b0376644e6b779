/* What a check shows beside its verdict, and does not gate. */
#ifndef BENCH_JUDGE_BESIDES_H
#define BENCH_JUDGE_BESIDES_H

#include "bench/campaign.h"
#include "bench/verdict.h"

/* Medians over the screen's processes of each arm: start-up, CPU time of the
 * loop and peak memory of the verdict's target. */
void judge_besides(struct verdict *verdict, const struct campaign *campaign,
		   const char *campaign_id);

#endif
