/* What `bench check` leaves behind and shows. */
#ifndef BENCH_GATE_CHECK_REPORT_H
#define BENCH_GATE_CHECK_REPORT_H

#include <stdio.h>

#include "bench/gate/check.h"
#include "bench/gate/judge.h"

/*
 * verdicts.csv and verdicts.md in the campaign's folder, the table on out, and
 * what --export-* asks for. All are tried, the first failure is reported.
 */
int check_report(const struct check *check, const struct judged *rows,
		 int count, FILE *out, struct error *err);

#endif
