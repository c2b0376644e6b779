/* The devices of a backend, whatever its drivers do. */
#ifndef BENCH_APP_DEVICE_LIST_H
#define BENCH_APP_DEVICE_LIST_H

#include "backends/contract/backend.h"

#define DEVICE_LIST_MOST 32
#define DEVICE_LIST_LIMIT_S 10

/*
 * Those of backend for this process's CPUs, written to list, of which there are
 * DEVICE_LIST_MOST; returns how many, or -1. Drivers are asked in a process of
 * its own: one that crashes, or does not answer within DEVICE_LIST_LIMIT_S, is
 * an error like any other. The caller has opened no device of backend.
 */
int device_list(const struct backend *backend, struct device_info *list,
		struct error *err);

#endif
