/* The timed work of every core: open a device, compile, warm up, then epochs of
 * iterations and tests. */
#ifndef BENCH_TRAIN_TRAINING_H
#define BENCH_TRAIN_TRAINING_H

#include "bench/train/outcome.h"

/*
 * The body of a core, for group_launch(); context is the struct
 * training_outcome. Fails with ERROR_STOPPED after a signal; the rows up to
 * then are written.
 */
int training_run(struct group *group, void *context, struct error *err);

#endif
