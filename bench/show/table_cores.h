/* `bench table --cores`: where the time of each core of a run went. */
#ifndef BENCH_SHOW_TABLE_CORES_H
#define BENCH_SHOW_TABLE_CORES_H

#include <stdio.h>

#include "bench/show/table.h"

/*
 * One table for each run of several cores, from a campaign that was loaded
 * with its cores' rows. ERROR_INPUT: it has no such run.
 */
int table_print_cores(const struct campaign *campaign,
		      const struct table_options *options, FILE *out,
		      struct error *err);

#endif
