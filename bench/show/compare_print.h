/* A comparison as text: what differs, a table for each target, notes. */
#ifndef BENCH_SHOW_COMPARE_PRINT_H
#define BENCH_SHOW_COMPARE_PRINT_H

#include <stdio.h>

#include "bench/show/compare.h"
#include "bench/show/table.h"

/* Fails only for want of memory; the caller checks ferror(out). */
int compare_print(const struct comparison *comparison,
		  const struct table_options *options, FILE *out,
		  struct error *err);

#endif
