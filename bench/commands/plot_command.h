/* `bench plot DIR`: pictures of a campaign, and report.html with them. */
#ifndef BENCH_COMMANDS_PLOT_COMMAND_H
#define BENCH_COMMANDS_PLOT_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/options/options.h"

/* Names of what was made go to out, notes to log. */
int plot_command(const struct options *options, FILE *out, FILE *log,
		 struct error *err);

#endif
