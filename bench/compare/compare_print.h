/* A comparison as text: what differs, a table for each target, notes. */
#ifndef BENCH_COMPARE_COMPARE_PRINT_H
#define BENCH_COMPARE_COMPARE_PRINT_H

#include <stdio.h>

#include "bench/compare/compare.h"
#include "bench/tables/table.h"

/* Fails only for want of memory; the caller checks ferror(out). */
int compare_print(const struct comparison *comparison,
		  const struct table_options *options, FILE *out,
		  struct error *err);

#endif
