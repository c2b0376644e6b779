/*
 * `bench verify [BACKEND[:DEVICE] ...]`: are the backends right? Each is
 * compared with the reference, which computes in double and follows its
 * decisions.
 */
#ifndef BENCH_VERIFY_VERIFY_H
#define BENCH_VERIFY_VERIFY_H

#include <stdio.h>

#include "backends/contract/backend.h"
#include "bench/options/options.h"

/* Notes go to log. 0: all are right; 1: one is not; -1: an error. */
int verify_command(const struct options *options, FILE *out, FILE *log,
		   struct error *err);

/* Whether it decides something, and is not the oracle itself. */
int verify_compares(const struct backend *backend);

#endif
