/* Lists devices of backends and targets, even if their drivers crash or
 * hang. */
#ifndef BENCH_COMMANDS_DEVICE_LIST_H
#define BENCH_COMMANDS_DEVICE_LIST_H

#include <stdio.h>

#include "backends/contract/backend.h"
#include "bench/plan/target.h"
#include "bench/train/training.h"

#define DEVICE_LIST_MOST 32
#define DEVICE_LIST_LIMIT_S 10 /* without waits for a CPU */

/*
 * Writes the devices of backend for this process's CPUs to list, which has room
 * for DEVICE_LIST_MOST. Returns their number, or -1. A child process asks the
 * drivers: a driver that crashes, or does not answer within
 * DEVICE_LIST_LIMIT_S, is an error like any other. The caller must not have
 * opened a device of backend.
 */
int device_list(const struct backend *backend, struct device_info *list,
		struct error *err);

/*
 * Opens and closes the devices of each target as its training will. If a device
 * is missing or has too little memory, prints a note to log and sets the
 * target's entry of missing to 1. Data sets must be known. Child processes ask
 * the drivers; if one crashes, fails, or does not answer within
 * DEVICE_LIST_LIMIT_S, its run will report it. The caller must not have opened
 * a device.
 */
void devices_probe(const struct target *targets,
		   const struct training *trainings, int count, FILE *log,
		   int *missing);

#endif
