/* Checks that cores which a launcher started, on one host or several, have the
 * same program, options and data. */
#ifndef BENCH_TRAIN_RANK_HOSTS_H
#define BENCH_TRAIN_RANK_HOSTS_H

#include "bench/train/core.h"

/*
 * Compares the cores before they start. All cores must call it. Sets hosts and
 * cpus of rank 0's run, and core->is_near in every core. Fails with
 * ERROR_MISSING if a host has another version of bench. Fails with ERROR_INPUT
 * if its data set or file of weights differs, and with ERROR_USAGE if its
 * options differ.
 */
int rank_hosts_compare(struct core *core, struct error *err);

/* Compares the cores before the first iteration. All cores must call it. Fails
 * with ERROR_INPUT if a core has other initial parameters or running statistics
 * than the first one, and with ERROR_USAGE if its seed differs. */
int rank_hosts_compare_start(struct core *core, struct error *err);

#endif
