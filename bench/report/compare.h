/*
 * Two campaigns side by side: for each target and metric that both have, the
 * ratio of the second to the first with an interval across runs. It is no
 * verdict: the runs of two campaigns were made one after the other, and what
 * the machine did meanwhile is in the ratio.
 */
#ifndef BENCH_REPORT_COMPARE_H
#define BENCH_REPORT_COMPARE_H

#include <stddef.h>
#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/result.h"
#include "bench/report/table_format.h"

/* What is compared, and how it is shown. */
struct compared_metric {
	enum metric metric;
	const char *label;
	double factor; /* 0: a time, in s or ms */
	int decimals;
};

#define COMPARE_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns") \
	TEXT(first, 64, "name of the first campaign") \
	TEXT(second, 64, "name of the second campaign") \
	TEXT(target, 64, "measured target") \
	TEXT(metric, 24, "one of the metrics of `summary.csv`") \
	TEXT(unit, 8, "unit of the medians") \
	INT(n_first, "finished runs of the first campaign that have the " \
	    "metric") \
	INT(n_second, "the same number of the second campaign") \
	REAL(median_first, "median over the first campaign's runs") \
	REAL(median_second, "median over the second campaign's runs") \
	REAL(ratio, "second / first, Hodges and Lehmann's estimate: median " \
	     "of the ratios of all pairs of runs") \
	REAL(ratio_lo, "lower end of the exact 95 % rank interval of ratio; " \
	     "empty: see reason") \
	REAL(ratio_hi, "upper end of that interval") \
	TEXT(reason, 64, "why there is no ratio or no interval")

/* A target and metric: a row of `bench compare --export-csv`. */
struct compare_row {
	COMPARE_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)

	/* In no file. */
	const struct compared_metric *kind;
	const char *label; /* the kind's, or what it is here */
	int unequal;	   /* the sides did other work: no row of a table */
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
 * common, or too many to read, is ERROR_INPUT, and so is work that differs in
 * all that could be compared. */
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

/* Parts of compare_build: bench/report/compare_differences.c, and
 * bench/report/compare_work.c: why the metric of a target's runs is not of the
 * same work; empty: it is. */
int compare_differences(struct comparison *comparison, struct error *err);
void compare_work_text(char text[64], const struct comparison *comparison,
		       const struct compared *target, enum metric metric);

/* Tables and notes; fails only for want of memory. */
int compare_print(const struct comparison *comparison,
		  const struct table_options *options, FILE *out,
		  struct error *err);

#endif
