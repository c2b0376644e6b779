/* What this machine and this build are. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdio.h>

#include "bench/run.h"

/* Fills the columns of a run that describe machine, build and variables. */
void machine_describe(struct run *run);

/*
 * How the names of variables begin that change how fast libraries are, or what
 * they do; ends with NULL.
 */
extern const char *const machine_variables[];

/* "0.1.0", and the day of the commit, "2026-01-31"; "unknown" without them. */
const char *machine_version(void);
const char *machine_date(void);

/* `bench --version`: version, commit, compiler, libraries built with. */
void machine_print_version(FILE *out);

#endif
