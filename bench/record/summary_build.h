/* The rows of summary.csv, from the results of a campaign. */
#ifndef BENCH_RECORD_SUMMARY_BUILD_H
#define BENCH_RECORD_SUMMARY_BUILD_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/result.h"
#include "bench/record/campaign.h"
#include "bench/record/summary.h"

/* *rows is an array that the caller frees. */
int summary_build(const struct results *results, struct summary **rows,
		  size_t *count, struct error *err);

/* summary.csv of a campaign; the caller checks ferror(). */
int summary_write(const struct campaign *campaign, int include_warmup,
		  FILE *out, struct error *err);

#endif
