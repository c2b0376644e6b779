/*
 * The work that is timed, as every core does it: open a device, compile, warm
 * up, then epochs of iterations and tests.
 */
#ifndef BENCH_TRAIN_TRAINING_H
#define BENCH_TRAIN_TRAINING_H

#include "bench/train/outcome.h"

/*
 * The body of a core, for group_launch(); context is the struct
 * training_outcome. ERROR_STOPPED: a signal came, and the rows so far are out.
 */
int training_run(struct group *group, void *context, struct error *err);

#endif
