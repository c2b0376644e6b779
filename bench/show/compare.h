/*
 * Two campaigns side by side: for each target and metric that both have, the
 * ratio of the second to the first with an interval across runs. Judges
 * nothing: the runs of two campaigns were made one after the other, and what
 * the machine did meanwhile is in the ratio.
 */
#ifndef BENCH_SHOW_COMPARE_H
#define BENCH_SHOW_COMPARE_H

#include <stddef.h>
#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/result.h"
#include "bench/show/table.h"

/* What is compared, and how it is shown. */
struct compared_metric {
	enum metric metric;
	const char *label;
	double factor; /* 0: a time, in s or ms */
	int decimals;
};

/* A target and metric: a row of `bench compare --export-csv`. */
struct compare_row {
	char schema[12];
	char first[64], second[64]; /* what the campaigns are called */
	char target[64];
	char metric[24];
	char unit[8];
	long n_first, n_second; /* runs that have it */
	double median_first, median_second;
	/* Hodges and Lehmann's estimate of second / first, and its exact 95 %
	 * interval; missing where reason says why. */
	double ratio, ratio_lo, ratio_hi;
	char reason[64];
	/* In no file. */
	const struct compared_metric *kind;
	const char *label; /* the kind's, or what it is here */
};

extern const struct row_kind compare_rows;

/* What differs between the runs of the targets that both have. */
struct difference {
	const char *group;  /* machine, build, ... */
	const char *column; /* of runs.csv */
	const char *target; /* NULL: all that both have */
	char first[200], second[200]; /* values, commas between, cut to fit */
	int differs;
};

/* A target that both have with finished runs, and its number in each. */
struct compared {
	const char *name;
	int first, second;
};

/* More targets are no campaign, but much memory. */
#define COMPARE_MOST_TARGETS 1000

struct comparison {
	const struct results *first, *second;
	const char *first_name, *second_name;
	struct compared *targets;
	int target_count;
	struct compare_row *rows; /* those of one target after each other */
	size_t row_count;
	struct difference *differences;
	size_t difference_count;
};

/* Borrows the results and names until compare_free. Both having no target in
 * common, or too many to read, is ERROR_INPUT. */
int compare_build(struct comparison *comparison, const struct results *first,
		  const char *first_name, const struct results *second,
		  const char *second_name, struct error *err);
void compare_free(struct comparison *comparison); /* all zero is fine */

/* The finished runs of a target, by its number, in their order; *next is 0 at
 * the beginning. NULL after the last. */
const struct result *compare_next_run(const struct results *results, int target,
				      int *next);

/* The number of a target; -1 of one that is not there. */
int results_find_target(const struct results *results, const char *target);

/* Has the target, which may be in neither, any of them? */
int compare_has_runs(const struct results *results, const char *target);

/* Part of compare_build: bench/show/compare_differences.c. */
int compare_differences(struct comparison *comparison, struct error *err);

/* Tables and notes; fails only for want of memory. */
int compare_print(const struct comparison *comparison,
		  const struct table_options *options, FILE *out,
		  struct error *err);

#endif
