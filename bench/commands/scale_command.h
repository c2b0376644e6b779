/* `bench scale DIR`: what more cores would bring. */
#ifndef BENCH_COMMANDS_SCALE_COMMAND_H
#define BENCH_COMMANDS_SCALE_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/options/options.h"

/* Prints a table for each setup of the folder with a target of one core, and
 * leaves the rows in its scale.csv, or in --export-csv. */
int scale_command(const struct options *options, FILE *out, FILE *log,
		  struct error *err);

#endif
