/* The two arms of a comparison, process by process. */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include "bench/observation.h"

/*
 * The gated metric of one process, from its rows: the median seconds of its
 * iterations, warm-up excluded, as the host saw them. CELL_NO_REAL if there is
 * none, or no memory to sort them.
 */
double pair_step_median(const struct observation *const *rows, size_t count);

#endif
