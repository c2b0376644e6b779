/* `bench devices` and `bench env`. */
#ifndef BENCH_APP_INFO_COMMAND_H
#define BENCH_APP_INFO_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"

int devices_command(FILE *out, struct error *err);
int env_command(FILE *out, struct error *err);

/* `bench run --list`: models, data sets, backends and transports. */
void list_print(FILE *out);

#endif
