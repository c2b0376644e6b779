/* `bench data get|check|list [NAME]`: find data sets, fetch and verify them. */
#ifndef BENCH_APP_DATA_COMMAND_H
#define BENCH_APP_DATA_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/run/data_get.h"

/* The result goes to out, progress to log. Returns an exit code; when it is not
 * 0, err says why. */
int data_command_run(const struct data_command *command, FILE *out, FILE *log,
		     struct error *err);

#endif
