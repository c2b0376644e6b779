/*
 * Writes results as files. At the end of a campaign: numbers and tables, next
 * to its rows. In one file for other programs: --export-csv has a row per
 * target with the numbers of all four tables. --export-json has schema,
 * context, runs and summary; --export-markdown has the tables.
 */
#ifndef BENCH_REPORT_EXPORT_H
#define BENCH_REPORT_EXPORT_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/options/options.h"
#include "bench/record/campaign.h"
#include "bench/report/table.h"
#include "bench/system/memory.h"

enum { EXPORTS = 3 };

/* Returns 1 if an --export option is given. */
int export_is_wanted(const struct options *options);

/* Returns 1 if an export goes to the terminal, which must get nothing else
 * then. */
int export_uses_terminal(const struct options *options);

/* Checks before measuring that at most one export is "-", and that every file
 * can be written. Fails with ERROR_USAGE or ERROR_OUTPUT. */
int export_check(const struct options *options, struct error *err);

/* Prints the requested exports; printers are for CSV, JSON and Markdown, in
 * this order. All are tried; the first failure is returned. */
int export_print(const struct options *options,
		 memory_printer *const printers[EXPORTS], const void *context,
		 FILE *terminal, struct error *err);

/* Exports a campaign's runs. table->format is not used. */
int export_write(const struct campaign *campaign,
		 const struct options *options,
		 const struct table_options *table, FILE *terminal,
		 struct error *err);

/*
 * Writes summary.csv and tables.md from all rows, including rows of other
 * processes in the folder. Call it after the last measurement. The last process
 * to finish also counts rows of killed processes.
 */
int campaign_finish(struct campaign *campaign, int include_warmup,
		    struct error *err);

#endif
