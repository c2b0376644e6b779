/*
 * `bench env --peak`: what this core can do at most, on registers and on memory
 * of several sizes; a row of its CSV file each.
 */
#ifndef BENCH_RUN_PEAKS_H
#define BENCH_RUN_PEAKS_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/column.h"

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
