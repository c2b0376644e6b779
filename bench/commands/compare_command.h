/* `bench compare DIR DIR`: two campaigns side by side. */
#ifndef BENCH_COMMANDS_COMPARE_COMMAND_H
#define BENCH_COMMANDS_COMPARE_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/options/options.h"

/* Notes about what was read go to log. */
int compare_command(const struct options *options, FILE *out, FILE *log,
		    struct error *err);

#endif
