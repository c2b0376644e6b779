/* The devices of backends and of targets, whatever their drivers do. */
#ifndef BENCH_COMMANDS_DEVICE_LIST_H
#define BENCH_COMMANDS_DEVICE_LIST_H

#include <stdio.h>

#include "backends/contract/backend.h"
#include "bench/plan/target.h"
#include "bench/train/training.h"

#define DEVICE_LIST_MOST 32
#define DEVICE_LIST_LIMIT_S 10 /* without waits for a CPU */

/*
 * Those of backend for this process's CPUs, written to list, of which there are
 * DEVICE_LIST_MOST; returns how many, or -1. Drivers are asked in a process of
 * its own: one that crashes, or does not answer within DEVICE_LIST_LIMIT_S, is
 * an error like any other. The caller has opened no device of backend.
 */
int device_list(const struct backend *backend, struct device_info *list,
		struct error *err);

/*
 * Opens the devices of each target as its training, whose data set is known,
 * will have them, and closes them; notes in log which are missing, or have too
 * little memory, and makes that target's place in missing 1. Drivers are asked
 * in processes of their own: one that crashes, fails, or does not answer within
 * DEVICE_LIST_LIMIT_S, is not missing, and a run of it will say so. The caller
 * has opened no device.
 */
void devices_probe(const struct target *targets,
		   const struct training *trainings, int count, FILE *log,
		   int *missing);

#endif
