/* The note on a process that did not get the CPUs it was to be timed on. */
#ifndef BENCH_APP_BUSY_H
#define BENCH_APP_BUSY_H

#include <stdio.h>

#include "bench/record/run.h"

/* Writes into log that the run's times are inflated, if they are:
 * run_is_slowed(). */
void busy_note(const struct run *run, FILE *log);

#endif
