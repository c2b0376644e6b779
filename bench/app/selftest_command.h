/*
 * `bench selftest`: a gate that cannot fail is worth nothing, so each verdict
 * and each exit code is brought about, on the machine that it is relied on.
 */
#ifndef BENCH_APP_SELFTEST_COMMAND_H
#define BENCH_APP_SELFTEST_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/options/options.h"

/*
 * A line for each case on out: what was tried, what had to come of it and what
 * did. 0 if all is as it has to be, 1 if not; or an error and its code. Leaves
 * no file behind.
 */
int selftest_command(const struct options *options, FILE *out, FILE *log,
		     struct error *err);

#endif
