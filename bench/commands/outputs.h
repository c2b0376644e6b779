/* Refuses outputs that would replace another file of the same command. An
 * export that replaced raw rows would lose measurements. */
#ifndef BENCH_COMMANDS_OUTPUTS_H
#define BENCH_COMMANDS_OUTPUTS_H

#include "bench/options/options.h"

/*
 * Called before a verb starts. Fails with ERROR_USAGE if one file, by any path
 * or link, is an output and also another output or an input. Inputs and outputs
 * are the options that the table marks and the verb's arguments. Files of a
 * results folder, of the data set, and standard output count too. Terminals,
 * pipes and devices such as /dev/null may be given several times. Fails also if
 * an output would replace rows that another command measured.
 */
int outputs_check(const struct options *options, struct error *err);

#endif
