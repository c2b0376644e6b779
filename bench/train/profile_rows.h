/* What was found of a core's iterations, for people and for programs. */
#ifndef BENCH_TRAIN_PROFILE_ROWS_H
#define BENCH_TRAIN_PROFILE_ROWS_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/column.h"

#define PROFILE_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns", NEEDED) \
	TEXT(run_id, 48, "the process, as in runs.csv") \
	TEXT(target, 64, "what was timed") \
	INT(cores, "emulated cores of the target") \
	INT(core, "rank of the profiled core") \
	TEXT(model, 32, "the network") \
	TEXT(algorithm, 8, "fast or dense, as in runs.csv") \
	TEXT(precision, 16, "fp32, bf16, fp64, ..., likewise") \
	TEXT(part, 40, "a fused step and its direction, or what lies " \
	     "between; other: what no part has; iteration: all of it", NEEDED) \
	INT(iterations, "that were measured: those with as many samples as " \
	    "the first, warm-up excluded") \
	INT(samples, "of the core in each iteration") \
	REAL(share_pct, "of the iteration") \
	REAL(elapsed_s, "mean over the middle half of the iterations, by " \
	     "their length: the parts add up", NEEDED) \
	REAL(median_s, "over all of these iterations") \
	REAL(dense_flop, "operations that the layers' definitions have; a " \
	     "multiply-add is two") \
	REAL(done_flop, "those that were done; without what transforms and " \
	     "single elements take") \
	REAL(moved_bytes, "if each value is read once, and written once") \
	REAL(nonzero_pct, "of the factors that come from the input " \
	     "(backward: from the gradient): what is neither dropped nor 0") \
	REAL(launches, "kernels and transfers given to a device") \
	REAL(dense_gflops, "dense_flop over elapsed_s, in 1e9 a second") \
	REAL(done_gflops, "done_flop over elapsed_s, likewise") \
	REAL(moved_gbs, "moved_bytes over elapsed_s, likewise") \
	REAL(peak_gflops, "of one core's vectors, fp32 multiply-add, " \
	     "measured at the start; no bound for products of bf16") \
	REAL(peak_pct, "done_gflops over peak_gflops")

/* One part of an iteration: a row of what --profile writes. */
struct profile_row {
	PROFILE_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind profile_rows;

/* As a table for a terminal; fails only for want of memory. */
int profile_print(FILE *out, const struct profile_row *rows, int count,
		  struct error *err);

#endif
