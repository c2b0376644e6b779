/* The times to an accuracy of whole setups: part of bench/record/results.c. */
#ifndef BENCH_RECORD_RESULTS_SCORE_H
#define BENCH_RECORD_RESULTS_SCORE_H

#include "bench/record/result.h"

/* Did the run of this cell go for the accuracy? One that failed on its way did,
 * and did not reach it; one that lacked its device, or was interrupted, did
 * not try. */
int result_has_tried(const struct result *cell);

/* After all runs were measured and pooled. */
int results_score(struct results *results, struct error *err);

#endif
