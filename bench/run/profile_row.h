/* One part of an iteration: a row of what `--profile` writes. */
#ifndef BENCH_RUN_PROFILE_ROW_H
#define BENCH_RUN_PROFILE_ROW_H

#include "bench/record/column.h"

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

#endif
