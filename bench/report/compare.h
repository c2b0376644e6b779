/*
 * Compares two campaigns: for each target and metric of both, the ratio of the
 * second to the first, with an interval across runs. The ratio is no verdict:
 * the campaigns ran one after the other, so that changes of the machine are
 * part of it.
 */
#ifndef BENCH_REPORT_COMPARE_H
#define BENCH_REPORT_COMPARE_H

#include <stddef.h>
#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/result.h"
#include "bench/report/table_format.h"

/* A compared metric and its format. */
struct compared_metric {
	enum metric metric;
	const char *label;
	double factor; /* 0 = a time, in s or ms */
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

/* One target and metric: a row of `bench compare --export-csv`. */
struct compare_row {
	COMPARE_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)

	/* Not written to files. */
	const struct compared_metric *kind;
	const char *label; /* label of kind, or a more exact one */
	int unequal;	   /* 1: the sides did other work, so the tables leave
			      the row out */
};

extern const struct row_kind compare_rows;

/* A column of runs.csv for targets of both campaigns. */
struct difference {
	const char *group;  /* machine, build, ... */
	const char *column; /* of runs.csv */
	const char *target; /* NULL = all common targets */
	char first[200], second[200]; /* values, separated by commas, cut to the
					 room */
	int differs;
};

/* A target with finished runs in both campaigns, and its number in each. */
struct compared {
	const char *name;
	int first, second;
};

/* Limits the memory for a comparison. */
#define COMPARE_MOST_TARGETS 1000

struct comparison {
	const struct results *first, *second;
	const char *first_name, *second_name;
	struct compared *targets;
	int target_count;
	struct compare_row *rows; /* grouped by target */
	size_t row_count;
	struct difference *differences;
	size_t difference_count;
};

/* Fills comparison. Borrows results and names until compare_free(). Fails with
 * ERROR_INPUT if there is no common target, if there are too many, or if the
 * work of all common targets differs. */
int compare_build(struct comparison *comparison, const struct results *first,
		  const char *first_name, const struct results *second,
		  const char *second_name, struct error *err);
void compare_free(struct comparison *comparison); /* all zero is allowed */

/* Iterates over the finished runs of a target in their order; *next is 0 at the
 * start. Returns NULL at the end. */
const struct result *compare_next_run(const struct results *results, int target,
				      int *next);

/* Returns the number of a target, or -1 if it is missing. */
int results_find_target(const struct results *results, const char *target);

/* Returns 1 if results have finished runs of the target. */
int compare_has_runs(const struct results *results, const char *target);

/* Used by compare_build(). compare_work_text() writes why the metric's runs did
 * other work; empty if they did not. */
int compare_differences(struct comparison *comparison, struct error *err);
void compare_work_text(char text[64], const struct comparison *comparison,
		       const struct compared *target, enum metric metric);

/* Prints tables and notes. Fails only if there is no memory. */
int compare_print(const struct comparison *comparison,
		  const struct table_options *options, FILE *out,
		  struct error *err);

#endif
