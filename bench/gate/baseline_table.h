/* What a saved baseline holds, as a table. */
#ifndef BENCH_GATE_BASELINE_TABLE_H
#define BENCH_GATE_BASELINE_TABLE_H

#include <stdio.h>

#include "bench/gate/baseline.h"
#include "bench/show/table.h"

/* Fails only for want of memory. */
int baseline_print(const struct baseline *baseline,
		   const struct table_options *options, FILE *out,
		   struct error *err);

#endif
