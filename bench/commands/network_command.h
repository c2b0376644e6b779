/* `bench env --network`: what an all-reduce costs here. */
#ifndef BENCH_COMMANDS_NETWORK_COMMAND_H
#define BENCH_COMMANDS_NETWORK_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/options/options.h"

/*
 * Measures it and prints a table to out, rows as CSV into the file of
 * --export-csv unless it is NULL; for "-" the rows to out, and no table. Of one
 * target whose rows go to out it is measured in this process.
 */
int network_command(const struct options *options, FILE *out, FILE *log,
		    struct error *err);

#endif
