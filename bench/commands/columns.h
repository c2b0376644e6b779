/* `bench table --columns`: prints results/README.md from the tables of
 * columns. */
#ifndef BENCH_COMMANDS_COLUMNS_H
#define BENCH_COMMANDS_COLUMNS_H

#include <stdio.h>

void columns_print(FILE *out);

#endif
