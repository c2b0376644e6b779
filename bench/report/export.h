/*
 * Results as files. At the end of a campaign its numbers and tables, beside its
 * rows; and in one file, for other programs: --export-csv (one row a target
 * with the numbers of all four tables), --export-json (one document: schema,
 * context, runs, summary) and --export-markdown (the tables).
 */
#ifndef BENCH_REPORT_EXPORT_H
#define BENCH_REPORT_EXPORT_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/campaign.h"
#include "bench/report/table.h"

struct export_paths {
	const char *csv, *json, *markdown; /* NULL: not wanted, "-": terminal */
};

/* Is something written to the terminal? Then nothing else should be. */
int export_uses_terminal(const struct export_paths *paths);

/* Before measuring: at most one "-", and every file can be written. */
int export_check(const struct export_paths *paths, struct error *err);

/*
 * Writes what is wanted. options->format is not used. All are tried, the first
 * failure is reported.
 */
int export_write(const struct campaign *campaign,
		 const struct export_paths *paths,
		 const struct table_options *options, FILE *terminal,
		 struct error *err);

/*
 * Writes summary.csv and tables.md from all rows, those that other processes
 * added to the folder included; nothing more is measured. What was left by
 * killed processes is told from what still runs by nobody else being there: the
 * last one to finish writes it.
 */
int campaign_finish(struct campaign *campaign, int include_warmup,
		    struct error *err);

#endif
