/* The CPUs that this process may use, confinement to fewer, and caches and
 * memory. */
#ifndef BENCH_SYSTEM_CPUS_H
#define BENCH_SYSTEM_CPUS_H

#include <stddef.h>

#include "backends/contract/error.h"

/* Returns the number of CPUs in the affinity mask. */
int cpus_allowed(void);

/* Returns the CPUs that can be used at a time: the mask, or the quota rounded
 * up. */
int cpus_available(void);

/*
 * Confines this process and its future threads to at most count CPUs, chosen by
 * cpus_choose(). Returns their number, or -1 on failure. Threads are not pinned
 * within them. list becomes "0,2-3".
 */
int cpus_confine(int count, char *list, size_t size, struct error *err);

/*
 * Writes count of the allowed CPUs, or all if there are fewer, to list. The
 * order is: one hardware thread of each large core, their other threads, small
 * cores. Both lists have the kernel's format. Threads are found by /sys's
 * topology, large cores by cpu_capacity, cpu_core/cpus or cpufreq. CPUs without
 * such files count as equal. root precedes /sys: "" except in tests.
 */
void cpus_choose(const char *root, const char *allowed, int count, char *list,
		 size_t size);

/*
 * Restricts this process and its children to the CPUs of list, an argument of
 * --cpus. Fails with ERROR_USAGE, which names a CPU that does not exist or is
 * not allowed.
 */
int cpus_restrict(const char *list, struct error *err);

/* Fails as cpus_restrict() would, for a system below root. */
int cpus_check(const char *root, const char *allowed, const char *list,
	       struct error *err);

/* Returns the bytes of the data cache of level 1 to 3; 0 if there is none, or
 * if it is not known. */
size_t cache_bytes(int level);

/* Returns the bytes of memory that can be allocated without harm to others; 0
 * if not known. */
size_t memory_free_bytes(void);

#endif
