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
#include "bench/options/options.h"
#include "bench/record/campaign.h"
#include "bench/report/table.h"
#include "bench/system/memory.h"

enum { EXPORTS = 3 };

/* Is any of them asked for? */
int export_is_wanted(const struct options *options);

/* Is something written to the terminal? Then nothing else should be. */
int export_uses_terminal(const struct options *options);

/* Before measuring: at most one "-", and every file can be written. */
int export_check(const struct options *options, struct error *err);

/* Prints what is asked for: rows, a document and tables, in this order. All are
 * tried, the first failure is reported. */
int export_print(const struct options *options,
		 memory_printer *const printers[EXPORTS], const void *context,
		 FILE *terminal, struct error *err);

/* The same of a campaign's runs. table->format is not used. */
int export_write(const struct campaign *campaign,
		 const struct options *options,
		 const struct table_options *table, FILE *terminal,
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
