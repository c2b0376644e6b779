/* Epochs that --steps ended before the training set did. */
#ifndef BENCH_RECORD_CUT_H
#define BENCH_RECORD_CUT_H

#include <stddef.h>

#include "bench/record/result.h"

/* Iterations of a whole epoch; CELL_NO_INT if it is not known. */
long run_whole_epoch(const struct run *run);

/* Are its epochs shorter than that? Where nobody knows, those with --steps. */
int run_is_cut(const struct run *run);

/* What the runs' epochs were cut to, with each iteration's samples: "40
 * iterations of 128 or 1024". Empty if none was. */
void results_cut_text(const struct results *results, char *text, size_t size);

#endif
