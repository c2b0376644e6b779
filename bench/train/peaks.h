/* What this core can do at most, on registers and on memory. */
#ifndef BENCH_TRAIN_PEAKS_H
#define BENCH_TRAIN_PEAKS_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "backends/contract/peak.h"
#include "bench/record/column.h"

/* How fast one of the loops of backends/contract/peak.h is. */
struct peak_rate {
	double best, median; /* operations or bytes a second, of several runs */
};

/*
 * Runs it on the calling thread for about so many seconds in all, three times
 * at least. memory and bytes are as for its work.
 */
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

/* `bench env --peak`: a row of its CSV file. */
struct peak_row {
	PEAK_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind peak_rows;

/* Of all backends, in some three seconds; *rows is freed by the caller. */
int peaks_measure(struct peak_row **rows, int *count, struct error *err);

/* As a table for a terminal; fails only for want of memory. */
int peaks_print(FILE *out, const struct peak_row *rows, int count,
		struct error *err);

#endif
