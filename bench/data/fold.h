/*
 * Divides groups into training and test, which share no group: the test set is
 * the first of five folds. Groups go by size, largest first, to the lightest
 * fold; of equal ones the last group comes first. (GroupKFold of scikit-learn
 * leaves the order of equal ones open.)
 */
#ifndef BENCH_DATA_FOLD_H
#define BENCH_DATA_FOLD_H

#include <stdint.h>

#define FOLDS 5

/* Sets is_test[group] for groups of these sizes. With fewer than FOLDS groups,
 * only the largest is for the test. Returns -1 if there is no memory. */
int fold_groups(const int *sizes, int groups, uint8_t *is_test);

#endif
