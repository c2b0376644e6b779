/* What a check shows beside its verdict, and does not gate. */
#ifndef BENCH_GATE_JUDGE_BESIDES_H
#define BENCH_GATE_JUDGE_BESIDES_H

#include "bench/gate/verdict.h"
#include "bench/record/campaign.h"

/* Medians over the screen's processes of each arm, of the verdict's target:
 * start-up, CPU time of the loop, peak memory and the last loss. */
int judge_besides(struct verdict *verdict, const struct campaign *campaign,
		  const char *campaign_id, struct error *err);

#endif
