/* Which CPUs this process may use, and confining it to fewer. */
#ifndef BENCH_MACHINE_CPUS_H
#define BENCH_MACHINE_CPUS_H

#include "backends/error.h"

/* CPUs in the affinity mask. */
int cpus_allowed(void);

/* CPUs that can be used at a time: the mask, or the quota rounded up. */
int cpus_available(void);

/*
 * Confines this process and the threads it will start to at most count of its
 * CPUs, and returns how many that are; -1 on failure. No thread is pinned
 * within them.
 */
int cpus_confine(int count, struct error *err);

#endif
