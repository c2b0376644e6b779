/* `bench devices` and `bench env`. */
#ifndef BENCH_COMMANDS_INFO_COMMAND_H
#define BENCH_COMMANDS_INFO_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/options/options.h"

int devices_command(const struct options *options, FILE *out, FILE *log,
		    struct error *err);
int env_command(const struct options *options, FILE *out, FILE *log,
		struct error *err);

/* `bench run --list`: models, data sets, backends and transports, whatever
 * other options say. */
int list_print(FILE *out, struct error *err);
/* The data sets that --dataset takes, and what each is. */
void list_datasets(FILE *out);

#endif
