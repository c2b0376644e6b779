/*
 * What a campaign came to: the first screen, a row a target, or all of it in
 * four tables: the loop, an iteration, an epoch, and details. In the first
 * three, campaigns and their runs are rows and targets are columns, as in the
 * post; in the details, and in one more table for each campaign that trained to
 * an accuracy, quantities are rows.
 */
#ifndef BENCH_REPORT_TABLE_H
#define BENCH_REPORT_TABLE_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/campaign.h"
#include "bench/report/table_format.h"

/* Do these ask for no more than the first screen? details: --details. The
 * post's figures and its format have their places in the four tables. */
int table_is_first(const struct table_options *options, int details);

/* Where nothing was measured there are no tables, but the lines that say why.
 * Fails only for want of memory; the caller checks ferror(out). */
int table_print(const struct campaign *campaign,
		const struct table_options *options, FILE *out,
		struct error *err);

/* A line that names the campaigns that the folder of this one had before; -q
 * has none. */
void table_print_earlier(const struct campaign *campaign,
			 const struct table_options *options, FILE *out);

/*
 * `bench table --cores`: where the time of each core of a run went, one table
 * for each run of several cores, from a campaign that was loaded with its
 * cores' rows. ERROR_INPUT: it has no such run.
 */
int table_print_cores(const struct campaign *campaign,
		      const struct table_options *options, FILE *out,
		      struct error *err);

#endif
