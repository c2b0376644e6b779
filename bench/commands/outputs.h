/*
 * Outputs that would replace another file of the same command. An export that
 * replaced raw rows would lose what was measured.
 */
#ifndef BENCH_COMMANDS_OUTPUTS_H
#define BENCH_COMMANDS_OUTPUTS_H

#include "bench/options/options.h"

/*
 * Before a verb starts: ERROR_USAGE if one file, by whatever path or link, is
 * an output and a second output or an input. Inputs and outputs are what the
 * option table marks, the arguments of the verb, the files of a results folder,
 * those of the data set, and standard output. Terminals, pipes and devices such
 * as /dev/null may be given several times. ERROR_USAGE, too, if an output would
 * replace rows that another command measured.
 */
int outputs_check(const struct options *options, struct error *err);

#endif
