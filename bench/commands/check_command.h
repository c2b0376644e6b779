/* `bench check`: is B slower than A? */
#ifndef BENCH_COMMANDS_CHECK_COMMAND_H
#define BENCH_COMMANDS_CHECK_COMMAND_H

#include <stdio.h>

#include "bench/options/options.h"

/*
 * 0: measured, and no regression is confirmed; 1: one is; 3: no verdict; else
 * an error and its code. The table goes to out, notes to log, and so does the
 * last line, "verdict: ...", which not even --quiet hides.
 */
int check_command(const struct options *options, FILE *out, FILE *log,
		  struct error *err);

#endif
