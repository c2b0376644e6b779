/* Are the devices of targets there? */
#ifndef BENCH_APP_DEVICE_PROBE_H
#define BENCH_APP_DEVICE_PROBE_H

#include <stdio.h>

#include "bench/run/target.h"

/*
 * Opens the devices of each target for kernels of device_class (NULL: as each
 * is), and closes them; tells log what is missing, and makes that target's
 * place in missing 1. Drivers are asked in processes of their own: one that
 * crashes, fails, or does not answer within DEVICE_LIST_LIMIT_S, is not
 * missing, and a run of it will say so. The caller has opened no device.
 */
void devices_probe(const struct target *targets, int count,
		   const char *device_class, FILE *log, int *missing);

#endif
