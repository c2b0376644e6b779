/*
 * The tables of a campaign: the first screen with a row per target, or four
 * tables (the loop, an iteration, an epoch, details). The first three of these
 * have campaigns and runs as rows and targets as columns, as in the post. The
 * details have a row per quantity, as does one more table per campaign that
 * trained to an accuracy.
 */
#ifndef BENCH_REPORT_TABLE_H
#define BENCH_REPORT_TABLE_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/campaign.h"
#include "bench/report/table_format.h"

/* Returns 1 if these options can be satisfied by the first screen. The post's
 * figures and format need the four tables. details: --details. */
int table_is_first(const struct table_options *options, int details);

/* Prints the tables, or the reasons if nothing was measured. Fails only if
 * there is no memory; the caller checks ferror(out). */
int table_print(const struct campaign *campaign,
		const struct table_options *options, FILE *out,
		struct error *err);

/* Prints a line with the campaigns that the folder had before this one, unless
 * -q is given. */
void table_print_earlier(const struct campaign *campaign,
			 const struct table_options *options, FILE *out);

/*
 * `bench table --cores`: prints a table of each core's time for each run of
 * several cores. campaign must be loaded with its cores' rows. Fails with
 * ERROR_INPUT if there is no such run.
 */
int table_print_cores(const struct campaign *campaign,
		      const struct table_options *options, FILE *out,
		      struct error *err);

#endif
