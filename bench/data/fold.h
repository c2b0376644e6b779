/*
 * Which groups are for the test: the first of five folds, so that training and
 * test share none. Groups by size, largest first and among equals the last one
 * first, go to the lightest fold (GroupKFold of scikit-learn, which leaves
 * equals open).
 */
#ifndef BENCH_DATA_FOLD_H
#define BENCH_DATA_FOLD_H

#include <stdint.h>

#define FOLDS 5

/* Fills is_test[group], of groups of so many samples. Of fewer than FOLDS
 * groups all but the largest one are left to training. -1: no memory. */
int fold_groups(const int *sizes, int groups, uint8_t *is_test);

#endif
