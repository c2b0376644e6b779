/*
 * `bench verify [BACKEND ...]`: are the backends right? Each is compared with
 * the reference, which computes in double and follows its decisions.
 */
#ifndef BENCH_VERIFY_H
#define BENCH_VERIFY_H

#include <stdio.h>

#include "backends/error.h"
#include "bench/options.h"

/* Notes go to log. 0: all are right; 1: one is not; -1: an error. */
int verify_command(const struct options *options, FILE *out, FILE *log,
		   struct error *err);

#endif
