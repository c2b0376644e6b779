#include "bench/run/profile_row.h"

#define TEXT(member, meaning) COLUMN_TEXT(profile_row, member, meaning, 0)
#define INT(member, meaning) COLUMN_INT(profile_row, member, meaning, 0)
#define REAL(member, meaning) COLUMN_REAL(profile_row, member, meaning, 0)

static const struct column columns[] = {
	COLUMN_TEXT(profile_row, schema, "version of the columns", 1),
	TEXT(run_id, "the process, as in runs.csv"),
	TEXT(target, "what was timed"),
	INT(cores, "emulated cores of the target"),
	INT(core, "rank of the core that was looked at"),
	TEXT(model, "the network"),
	TEXT(algorithm, "fast or dense, as in runs.csv"),
	TEXT(precision, "fp32, bf16 or fp64, likewise"),
	COLUMN_TEXT(profile_row, part, "a fused step and its direction, or "
		    "what lies between; other: what no part has; iteration: "
		    "all of it", 1),
	INT(iterations, "that were measured: those with as many samples as the "
	    "first, warm-up excluded"),
	INT(samples, "of the core in each iteration"),
	REAL(share_pct, "of the iteration"),
	COLUMN_REAL(profile_row, elapsed_s, "mean over the middle half of the "
		    "iterations, by their length: the parts add up", 1),
	REAL(median_s, "over all of these iterations"),
	REAL(dense_flop, "operations that the layers' definitions have; a "
	     "multiply-add is two"),
	REAL(done_flop, "those that were done; without what transforms and "
	     "single elements take"),
	REAL(moved_bytes, "if each value is read once, and written once"),
	REAL(nonzero_pct, "of the factors that come from the input (backward: "
	     "from the slopes): what is neither dropped nor 0"),
	REAL(launches, "kernels and transfers given to a device"),
	REAL(dense_gflops, "dense_flop over elapsed_s, in 1e9 a second"),
	REAL(done_gflops, "done_flop over elapsed_s, likewise"),
	REAL(moved_gbs, "moved_bytes over elapsed_s, likewise"),
	REAL(peak_gflops, "of one core's vectors, fp32 multiply-add, measured "
	     "at the start; no bound for products of AMX's tiles"),
	REAL(peak_pct, "done_gflops over peak_gflops"),
};

const struct row_kind profile_rows = {
	.schema = "bench/1",
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.row_size = sizeof(struct profile_row),
};
