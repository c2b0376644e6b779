/* `bench calibrate`: how far the base strays from itself on this machine. */
#ifndef BENCH_APP_CALIBRATE_COMMAND_H
#define BENCH_APP_CALIBRATE_COMMAND_H

#include <stdio.h>

#include "bench/options/options.h"

/*
 * Measures blocks of this program against itself as `bench check` does, puts
 * the floors of the targets into a file (bench/gate/floor.h) and a table on
 * out. Returns 0, or an error and its code.
 */
int calibrate_command(const struct options *options, FILE *out, FILE *log,
		      struct error *err);

#endif
