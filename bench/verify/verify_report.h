/*
 * The tables of `bench verify`, and its verdict.
 */
#ifndef BENCH_VERIFY_VERIFY_REPORT_H
#define BENCH_VERIFY_VERIFY_REPORT_H

#include <stdio.h>

#include "bench/verify/verify_task.h"

#define VERIFY_MOST_BACKENDS 8

/* What was asked, and what was found; verify_report() sets wrong and
 * explained. */
struct verification {
	const struct options *options; /* of the command's caller */
	FILE *out;
	int color;
	struct model model; /* of task */
	struct verify_task task;
	struct verify_result results[VERIFY_MOST_BACKENDS];
	int count;
	int compared; /* of them */
	int wrong;
	int explained; /* something is over its bound by rounding */
};

/* Whether there are errors, not a reason why there are none. */
int verify_is_compared(const struct verify_result *result);

/* What was not asked for by name may be missing. */
int verify_is_skipped(const struct verification *v,
		      const struct verify_result *result);

/* Prints what is about to be compared, and within which bounds. */
void verify_announce(const struct verification *v);

/* Prints the tables, what is wrong, and the verdict. Returns the exit code, see
 * verify_conclude(). */
int verify_report(struct verification *v);

#endif
