/* `bench measure TARGET`: one run in this process, its rows as CSV. */
#ifndef BENCH_COMMANDS_MEASURE_H
#define BENCH_COMMANDS_MEASURE_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/options/options.h"
#include "bench/record/run.h"

/* Rows go to out, notes to log. */
int measure_command(const struct options *options, FILE *out, FILE *log,
		    struct error *err);

/* Writes into log that the run's times are inflated, and by what, if the run
 * did not get its CPUs: run_is_slowed(). */
void note_disturbed(const struct run *run, FILE *log);

#endif
