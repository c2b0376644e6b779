/* What was found of a core's iterations, for people and for programs. */
#ifndef BENCH_RUN_PROFILE_TABLE_H
#define BENCH_RUN_PROFILE_TABLE_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/run/profile_row.h"

/* The rows of one profile, whole, as CSV into the file at path; count may be
 * 0. */
int profile_write(const char *path, const struct profile_row *rows, int count,
		  struct error *err);

/* As a table for a terminal; fails only for want of memory. */
int profile_print(FILE *out, const struct profile_row *rows, int count,
		  struct error *err);

#endif
