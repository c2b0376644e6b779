/* `bench run [TARGET ...]`: a campaign, one fresh process a run. */
#ifndef BENCH_COMMANDS_RUN_COMMAND_H
#define BENCH_COMMANDS_RUN_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/options/options.h"

/*
 * Tables go to out, notes to log. Returns the exit code, with err filled when
 * it is not 0 (ERROR_STOPPED stands for both signals: see
 * interrupt_signal()).
 */
int run_command(const struct options *options, FILE *out, FILE *log,
		struct error *err);

#endif
