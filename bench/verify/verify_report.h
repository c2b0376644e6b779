/*
 * The tables of `bench verify`, and its verdict.
 */
#ifndef BENCH_VERIFY_VERIFY_REPORT_H
#define BENCH_VERIFY_VERIFY_REPORT_H

#include <stdio.h>

#include "bench/verify/verify_task.h"

#define VERIFY_MOST_BACKENDS 8

struct verification {
	const struct options *options;
	FILE *out;
	int color;
	struct model model; /* of task */
	struct verify_task task;
	struct verify_result results[VERIFY_MOST_BACKENDS];
	int count;
	int compared; /* of them */
	int wrong;
	double explained; /* the largest bound of what is over the usual one */
};

int verify_is_compared(const struct verify_result *result);

/* What was not asked for by name may be missing. */
int verify_is_skipped(const struct verification *v,
		      const struct verify_result *result);

/* Prints them; the exit code, see verify_conclude(). */
int verify_report(struct verification *v);

#endif
