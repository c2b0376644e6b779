/* Peak rates of one core, in registers and in memory. */
#ifndef BENCH_TRAIN_PEAKS_H
#define BENCH_TRAIN_PEAKS_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "backends/contract/peak.h"
#include "bench/record/column.h"

/* Rate of one loop of backends/contract/peak.h. */
struct peak_rate {
	double best, median; /* operations or bytes per second, over several
				runs */
};

/* Runs the loop on the calling thread for about this many seconds, but at least
 * three times. memory and bytes are as for peak->work. */
struct peak_rate peak_measure(const struct peak *peak, const float *memory,
			      size_t bytes, double seconds);

#define PEAK_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns", NEEDED) \
	TEXT(started_utc, 24, "time of the measurement") \
	TEXT(host_key, 20, "machine, as in runs.csv") \
	TEXT(cpu_model, 80, "CPU model of the machine") \
	TEXT(name, 32, "operation of one core: fp32 multiply-add, bf16 dot " \
	     "product, bf16 tile product, read", NEEDED) \
	TEXT(isa, 16, "instruction set") \
	TEXT(level, 12, "level that is read: a data cache or memory; empty: " \
	     "registers") \
	INT(memory_bytes, "bytes that are read again and again") \
	TEXT(unit, 12, "unit of best and median: GFLOP/s, with two " \
	     "operations per multiply-add, or GB/s", NEEDED) \
	REAL(best, "best of several short runs", NEEDED) \
	REAL(median, "median of these runs", NEEDED) \
	TEXT(version, 48, "version of bench") \
	TEXT(git_commit, 48, "commit that bench was built from")

/* A row of the CSV file of `bench env --peak`. */
struct peak_row {
	PEAK_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind peak_rows;

/* Measures the peaks of all backends in about three seconds. The caller frees
 * *rows. */
int peaks_measure(struct peak_row **rows, int *count, struct error *err);

/* Prints a table for a terminal. Fails only if there is no memory. */
int peaks_print(FILE *out, const struct peak_row *rows, int count,
		struct error *err);

#endif
