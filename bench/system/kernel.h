/* Values from the kernel's files: limits of this process's control groups, and
 * other load during a measurement. */
#ifndef BENCH_SYSTEM_KERNEL_H
#define BENCH_SYSTEM_KERNEL_H

#include <stddef.h>

/*
 * Reads the first size - 1 bytes of folder/name, or of path name if folder is
 * NULL, and adds a NUL. Allocates nothing: a description of the machine then
 * never depends on free memory. Returns -1, and an empty text, if the file
 * cannot be read.
 */
int small_file_read(const char *folder, const char *name, char *text,
		    size_t size);

/* Returns the text after key in the first line that starts with it, or NULL. */
const char *small_file_line(const char *text, const char *key);

/*
 * Returns the smallest CPU quota of this process's control groups, in CPUs
 * (cpu.max or cpu.cfs_quota_us); NAN if there is none. A malformed quota is
 * ignored. root precedes /proc and /sys, here and below: "" except in tests.
 */
double cgroup_cpus(const char *root);

/* Returns the bytes that the groups may still allocate, with caches of files
 * counted as free. This is the least distance to a limit (memory.max, or
 * memory.limit_in_bytes in version 1). Returns NAN if there is no limit. */
double cgroup_memory(const char *root);

/* Counters of other load, in seconds; NAN if the system has none. None of them
 * is a measured time, so that they can be a reason to reject a measurement. */
struct disturbance_counters {
	double throttled_s; /* quotas kept CPUs from the groups */
	double pressure_s;  /* a task of the group waited for a CPU */
	/* CPU time of the machine: in all, used, and stolen by the
	 * hypervisor. */
	double all_s, busy_s, stolen_s;
};

/* Differences of two readings; NAN if one lacks the counter. */
struct disturbance {
	double throttled_s;  /* over all CPUs */
	double pressure_pct; /* of the elapsed time */
	double steal_pct;    /* of the machine's CPU time */
	double foreign_pct;  /* used by other processes, of the machine's CPU
				time */
};

/* Reads the counters. Throttling is the sum over all levels of groups; pressure
 * is from the innermost group that reports it, or from the machine. */
void disturbance_read(struct disturbance_counters *counters, const char *root);

/* elapsed_s passed between the readings; the caller used own_cpu_s. */
struct disturbance
disturbance_between(const struct disturbance_counters *before,
		    const struct disturbance_counters *after, double elapsed_s,
		    double own_cpu_s);

#endif
