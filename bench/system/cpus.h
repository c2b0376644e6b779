/* Which CPUs this process may use, confining it to fewer, and their memory. */
#ifndef BENCH_SYSTEM_CPUS_H
#define BENCH_SYSTEM_CPUS_H

#include <stddef.h>

#include "backends/contract/error.h"

/* CPUs in the affinity mask. */
int cpus_allowed(void);

/* CPUs that can be used at a time: the mask, or the quota rounded up. */
int cpus_available(void);

/*
 * Confines this process and the threads it will start to at most count of its
 * CPUs, those of cpus_choose(), and returns how many that are; -1 on failure.
 * No thread is pinned within them. list becomes their list, "0,2-3".
 */
int cpus_confine(int count, char *list, size_t size, struct error *err);

/*
 * Of the CPUs allowed, count or as many as there are, into list: one hardware
 * thread of each large core, then the other threads of these, then small
 * cores. Both are lists as the kernel writes them. root is put before /sys, ""
 * but in tests: its topology tells the threads of a core, and cpu_capacity,
 * cpu_core/cpus or cpufreq which cores are large. What it does not tell is the
 * same of all.
 */
void cpus_choose(const char *root, const char *allowed, int count, char *list,
		 size_t size);

/*
 * Restricts this process, and those that it will start, to the CPUs of list,
 * which is what a user gave to --cpus. ERROR_USAGE names one that there is not,
 * or that may not be used.
 */
int cpus_restrict(const char *list, struct error *err);

/* What of list would be refused, for a system below root. */
int cpus_check(const char *root, const char *allowed, const char *list,
	       struct error *err);

/* Bytes of the data cache of this level, 1 to 3; 0: none, or not known. */
size_t cache_bytes(int level);

/* Bytes of memory that can be had without harm to others; 0: not known. */
size_t memory_free_bytes(void);

#endif
