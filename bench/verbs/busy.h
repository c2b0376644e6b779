/* The note on a process that did not get the CPUs it was to be timed on. */
#ifndef BENCH_VERBS_BUSY_H
#define BENCH_VERBS_BUSY_H

#include <stdio.h>

#include "bench/rows/run.h"
#include "bench/training/target.h"

/* Writes into log that the run's times are too long, where its cores waited
 * for their CPUs beside something else. */
void busy_note(const struct target *target, const struct run *run, FILE *log);

#endif
