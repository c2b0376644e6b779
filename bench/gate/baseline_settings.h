/*
 * What a process was told to do, as its row of runs.csv says it and as options
 * do: later processes are compared with it only if they do the same.
 */
#ifndef BENCH_GATE_BASELINE_SETTINGS_H
#define BENCH_GATE_BASELINE_SETTINGS_H

#include "bench/options/options.h"
#include "bench/record/run.h"

/* Does the row have all of them, and each such that an option could say it?
 * ERROR_INPUT names the column and what was expected. */
int settings_check(const struct run *run, struct error *err);

/* ERROR_USAGE names the options that were given and are not as the run's. */
int settings_agree(const struct options *options, const struct run *run,
		   struct error *err);

/* Options for a process that does what run did, which was checked and stays as
 * long as they. Others are as they were. */
void settings_repeat(struct options *options, const struct run *run);

/* How many differ, and "lr: 1, then 0.5; ..." */
int settings_compare(const struct run *was, const struct run *is, char *text,
		     size_t size);

#endif
