/* `bench table DIR|FILE ...`: the tables again, from saved rows. */
#ifndef BENCH_COMMANDS_TABLE_COMMAND_H
#define BENCH_COMMANDS_TABLE_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/options/options.h"

/* Notes about what was read go to log. */
int table_command(const struct options *options, FILE *out, FILE *log,
		  struct error *err);

#endif
