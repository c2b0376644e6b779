/* What this core can do at most, on registers and on memory. */
#ifndef BENCH_RUN_PEAKS_H
#define BENCH_RUN_PEAKS_H

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

/* `bench env --peak`: a row of its CSV file. */
struct peak_row {
	char schema[12];
	char started_utc[24];
	char host_key[20];
	char cpu_model[80];
	char name[32];	  /* "fp32 multiply-add", "read" */
	char isa[16];	  /* "avx512" */
	char level[12];	  /* "L1", "memory"; empty: registers */
	long memory_bytes; /* that are read, again and again */
	char unit[12];	  /* of the next two */
	double best, median; /* of several runs */
	char version[48];
	char git_commit[48];
};

extern const struct row_kind peak_rows;

/* Of all backends, in some three seconds; *rows is freed by the caller. */
int peaks_measure(struct peak_row **rows, int *count, struct error *err);

/* As a table for a terminal; fails only for want of memory. */
int peaks_print(FILE *out, const struct peak_row *rows, int count,
		struct error *err);

#endif
