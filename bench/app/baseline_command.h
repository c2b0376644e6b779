/* `bench baseline`: times that later ones are compared with. */
#ifndef BENCH_APP_BASELINE_COMMAND_H
#define BENCH_APP_BASELINE_COMMAND_H

#include <stdio.h>

#include "bench/options/options.h"

/*
 * save DIR [TARGET ...] measures and keeps, show DIR tells what is kept; both
 * print it to out, notes go to log. Returns 0, or an error and its code.
 */
int baseline_command(const struct options *options, FILE *out, FILE *log,
		     struct error *err);

#endif
