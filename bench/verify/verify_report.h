/* The tables and the verdict of `bench verify`. */
#ifndef BENCH_VERIFY_VERIFY_REPORT_H
#define BENCH_VERIFY_VERIFY_REPORT_H

#include <stdio.h>

#include "bench/verify/verify_task.h"

#define VERIFY_MOST_BACKENDS 8

/* The request and its results. verify_report() sets wrong and explained. */
struct verification {
	const struct options *options; /* as the caller of the command gave
					  them */
	FILE *out;
	int color;
	struct model model; /* task.model points to it */
	struct verify_task task;
	struct verify_result results[VERIFY_MOST_BACKENDS];
	int count;
	int compared; /* number of results that were compared */
	int wrong; /* 1: a backend is wrong */
	int explained; /* 1: an error exceeds its plain bound and is explained
			  by rounding */
};

/* Returns 1 if result has errors, 0 if it has a reason instead. */
int verify_is_compared(const struct verify_result *result);

/* Returns 1 if the target was not compared and the user did not name it. */
int verify_is_skipped(const struct verification *v,
		      const struct verify_result *result);

/* Prints the comparisons that follow, and their bounds. */
void verify_announce(const struct verification *v);

/* Prints the tables, the errors over their bounds, and the verdict. Returns the
 * exit code of verify_conclude(). */
int verify_report(struct verification *v);

#endif
