/* A data set without files. */
#ifndef BENCH_RUN_SYNTHETIC_H
#define BENCH_RUN_SYNTHETIC_H

#include "backends/contract/error.h"
#include "bench/run/dataset.h"

/*
 * Fills both halves of dataset, whose shape and classes are set, with so many
 * samples. Each class has a pattern that is drawn at a random place with a
 * random strength on noise: a net learns them in an epoch. The same for ever;
 * smaller counts are the beginnings of larger ones. The caller releases it.
 */
int synthetic_make(struct dataset *dataset, int train_count, int test_count,
		   struct error *err);

#endif
