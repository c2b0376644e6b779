/* What this machine and this build are. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdio.h>

#include "bench/run.h"

/* Fills the columns of a run that describe machine, build and variables. */
void machine_describe(struct run *run);

/* `bench --version`: version, commit, compiler. */
void machine_print_version(FILE *out);

#endif
