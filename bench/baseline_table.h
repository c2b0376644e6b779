/* What a saved baseline holds, as a table. */
#ifndef BENCH_BASELINE_TABLE_H
#define BENCH_BASELINE_TABLE_H

#include <stdio.h>

#include "bench/baseline.h"
#include "bench/table.h"

/* Fails only for want of memory. */
int baseline_print(const struct baseline *baseline,
		   const struct table_options *options, FILE *out,
		   struct error *err);

#endif
