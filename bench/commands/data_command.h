/* `bench data get|check|list [NAME]`: find data sets, fetch and verify them. */
#ifndef BENCH_COMMANDS_DATA_COMMAND_H
#define BENCH_COMMANDS_DATA_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/options/options.h"

/* The result goes to out, progress to log. */
int data_command(const struct options *options, FILE *out, FILE *log,
		 struct error *err);

#endif
