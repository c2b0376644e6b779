/*
 * `bench verify [BACKEND[:DEVICE] ...]`: are the backends right? Each backend
 * is compared with the reference, which computes in double and copies the
 * backend's decisions.
 */
#ifndef BENCH_VERIFY_VERIFY_H
#define BENCH_VERIFY_VERIFY_H

#include <stdio.h>

#include "backends/contract/backend.h"
#include "bench/options/options.h"

/* Runs the command; notes go to log. Returns 0 if all backends are right, 1 if
 * one is wrong, 128 and the signal after a signal, -1 on error. */
int verify_command(const struct options *options, FILE *out, FILE *log,
		   struct error *err);

/* Returns 1 if the backend makes decisions and is not the reference itself. */
int verify_compares(const struct backend *backend);

#endif
