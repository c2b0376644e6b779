/* The profile of a core's iterations, as rows and as a table. */
#ifndef BENCH_TRAIN_PROFILE_ROWS_H
#define BENCH_TRAIN_PROFILE_ROWS_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/column.h"

#define PROFILE_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns", NEEDED) \
	TEXT(run_id, 48, "process, as in runs.csv") \
	TEXT(target, 64, "measured target") \
	INT(cores, "emulated cores of the target") \
	INT(core, "rank of the profiled core") \
	TEXT(model, 32, "network") \
	TEXT(algorithm, 8, "fast or dense, as in runs.csv") \
	TEXT(precision, 16, "number format, as in runs.csv") \
	TEXT(part, 40, "fused step and its direction, or work between steps; " \
	     "other: the rest; iteration: the whole", NEEDED) \
	INT(iterations, "measured iterations: those with as many samples as " \
	    "the first, without warm-up") \
	INT(samples, "samples of the core in each iteration") \
	REAL(share_pct, "share of the iteration") \
	REAL(elapsed_s, "mean over the middle half of the iterations, by " \
	     "length, so that parts add up", NEEDED) \
	REAL(median_s, "median over all measured iterations") \
	REAL(dense_flop, "operations of the layers' definitions; a " \
	     "multiply-add is two") \
	REAL(done_flop, "operations that were done, without transforms and " \
	     "elementwise work") \
	REAL(moved_bytes, "bytes moved if each value is read once and " \
	     "written once") \
	REAL(nonzero_pct, "factors from the input (backward: from the " \
	     "gradient) that are neither dropped nor 0") \
	REAL(launches, "kernels and transfers submitted to a device") \
	REAL(dense_gflops, "dense_flop / elapsed_s, in 1e9 per second") \
	REAL(done_gflops, "done_flop / elapsed_s, in 1e9 per second") \
	REAL(moved_gbs, "moved_bytes / elapsed_s, in 1e9 per second") \
	REAL(peak_gflops, "peak of one core's fp32 vector multiply-adds, " \
	     "measured at the start; products in bf16 may exceed it") \
	REAL(peak_pct, "done_gflops / peak_gflops")

/* One part of an iteration: a row of the file of --profile. */
struct profile_row {
	PROFILE_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind profile_rows;

/* Prints a table for a terminal. Fails only if there is no memory. */
int profile_print(FILE *out, const struct profile_row *rows, int count,
		  struct error *err);

#endif
