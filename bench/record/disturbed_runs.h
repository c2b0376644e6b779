/*
 * The runs whose times are too long, and by how many CPUs: those that others
 * used meanwhile, or those that a run did not get for another reason.
 */
#ifndef BENCH_RECORD_DISTURBED_RUNS_H
#define BENCH_RECORD_DISTURBED_RUNS_H

#include <stddef.h>

#include "bench/record/result.h"

/*
 * Was it disturbed, as bench/record/disturbed.h has it, or did it get less than
 * nine tenths of its CPUs? (Of several cores with a CPU for each one may wait
 * for another, and devices' CPUs are their own affair.) Then why holds the
 * cause: "others used 0.52 of 2 CPUs".
 */
int run_is_slowed(const struct run *run, char *why, size_t size);

/* Which targets' runs were disturbed, how many of them and how much at most;
 * empty if none was. What does not fit is left out. */
void disturbed_text(const struct results *results, char *text, size_t size);

#endif
