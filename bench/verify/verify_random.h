/* `bench verify --random N`: are the backends right about any network? */
#ifndef BENCH_VERIFY_VERIFY_RANDOM_H
#define BENCH_VERIFY_VERIFY_RANDOM_H

#include <stdio.h>

#include "bench/options/options.h"
#include "bench/plan/target.h"

/* options->random networks on each target, the largest errors and the solvers'
 * shares to out, notes to log. 0: all are right; 1: one is not; 128 and a
 * signal: right until it came; -1: an error. */
int verify_random(const struct options *options, const struct target *targets,
		  int count, FILE *out, FILE *log, struct error *err);

#endif
