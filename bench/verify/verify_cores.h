/*
 * Several cores of a backend against one.
 */
#ifndef BENCH_VERIFY_VERIFY_CORES_H
#define BENCH_VERIFY_VERIFY_CORES_H

#include "bench/verify/verify_task.h"

/* Masks, replicas and parameters of 1, 2 and 3 cores, by threads and fork; or
 * of a target's own cores, by its transport. With --team this process becomes
 * one of these. To be called before this process opens a device of the
 * backend. */
int verify_cores(const struct verify_task *task, struct verify_result *result,
		 struct error *err);

#endif
