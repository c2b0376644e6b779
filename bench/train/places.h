/* Where the cores are that another program has started, and whether they have
 * the same program and data there. */
#ifndef BENCH_TRAIN_PLACES_H
#define BENCH_TRAIN_PLACES_H

#include "bench/train/core.h"

/*
 * All cores meet. Rank 0 gets hosts and cpus of the run's row, and all know
 * which cores are on their own host (core->is_near). ERROR_MISSING: another
 * version of bench on one of the hosts; ERROR_INPUT: another data set, or
 * another file of weights; ERROR_USAGE: other options.
 */
int places_compare(struct core *core, struct error *err);

/* All cores meet before the first iteration. ERROR_INPUT: a core begins with
 * other parameters, or other running statistics, than the first one.
 * ERROR_USAGE: another seed. */
int places_compare_start(struct core *core, struct error *err);

#endif
