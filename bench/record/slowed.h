/* Runs that bench/run/slowdown.h made slower, told from their rows. */
#ifndef BENCH_RECORD_SLOWED_H
#define BENCH_RECORD_SLOWED_H

#include <stddef.h>

#include "bench/record/run.h"

/* What was done to a run, in words; empty if it was nothing. */
void slowdown_explain(const struct run *run, char *text, size_t size);

#endif
