/* `bench env --peak`: what one core can do at most. */
#ifndef BENCH_APP_PEAK_COMMAND_H
#define BENCH_APP_PEAK_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/options/options.h"

/* What `bench env` says, and a table; or with --export-csv - the rows alone. */
int peak_command(const struct options *options, FILE *out, struct error *err);

#endif
