/* What was found of a core's iterations, for people and for programs. */
#ifndef BENCH_RUN_PROFILE_ROWS_H
#define BENCH_RUN_PROFILE_ROWS_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/column.h"

/* One part of an iteration: a row of what --profile writes. */
struct profile_row {
	char schema[12];
	char run_id[48];
	char target[64];
	long cores, core;
	char model[32];
	char algorithm[8], precision[8];
	char part[40];	 /* "fc1 forward"; the last two: other, iteration */
	long iterations; /* that were measured */
	long samples;	 /* of the core, in each of them */
	double share_pct, elapsed_s; /* of the middle half of them */
	double median_s;
	/* Of one iteration; a multiply-add is two operations. */
	double dense_flop, done_flop, moved_bytes;
	double nonzero_pct;
	double launches; /* of a device */
	double dense_gflops, done_gflops, moved_gbs; /* over elapsed_s */
	double peak_gflops, peak_pct; /* the core's; done over it */
};

extern const struct row_kind profile_rows;

/* As a table for a terminal; fails only for want of memory. */
int profile_print(FILE *out, const struct profile_row *rows, int count,
		  struct error *err);

#endif
