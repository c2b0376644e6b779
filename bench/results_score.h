/* The times to an accuracy of whole setups: part of bench/results.c. */
#ifndef BENCH_RESULTS_SCORE_H
#define BENCH_RESULTS_SCORE_H

#include "bench/result.h"

/* After all runs were measured and pooled. */
int results_score(struct results *results, struct error *err);

#endif
