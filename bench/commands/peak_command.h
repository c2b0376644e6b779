/* `bench env --peak`: what one core can do at most. */
#ifndef BENCH_COMMANDS_PEAK_COMMAND_H
#define BENCH_COMMANDS_PEAK_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"

/* Measures them and prints a table to out, rows as CSV into the file path
 * unless it is NULL; for "-" the rows to out, and no table. */
int peak_command(const char *path, FILE *out, struct error *err);

#endif
