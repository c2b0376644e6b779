/*
 * What the kernel tells in files: of the control groups that this process is
 * in, and of what else went on while a process measured.
 */
#ifndef BENCH_SYSTEM_KERNEL_H
#define BENCH_SYSTEM_KERNEL_H

#include <stddef.h>

/*
 * The first size - 1 bytes of folder/name, or of the path name where folder is
 * NULL, with a NUL behind them. No memory is needed, so what a machine says of
 * itself does not depend on how much is left. Returns 0, or -1 and an empty
 * text if there is no such file.
 */
int small_file_read(const char *folder, const char *name, char *text,
		    size_t size);

/* What follows key in the first line of text that begins with it, or NULL. */
const char *small_file_line(const char *text, const char *key);

/*
 * The smallest CPU quota of the control groups that this process is in, in CPUs
 * (cpu.max or cpu.cfs_quota_us); NAN without one. What does not read like a
 * quota is none. root is put before /proc and /sys, here and below: "" but in
 * tests.
 */
double cgroup_cpus(const char *root);

/* The bytes that the groups may still take: the least of what is left below
 * their limits (memory.max, or memory.limit_in_bytes in version 1), caches of
 * files counted as free. NAN without a limit. */
double cgroup_memory(const char *root);

/*
 * What else went on, counted so far, in seconds; NAN where the system does not
 * tell. None of it is a time that was measured, so that a measurement may be
 * rejected for it.
 */
struct disturbance_counters {
	double throttled_s; /* CPUs were kept from the groups by their quotas */
	double pressure_s;  /* something of the group waited for a CPU */
	/* CPU time of the machine: in all, used here, and stolen from it. */
	double all_s, busy_s, stolen_s;
};

/* Between two moments; NAN where one of them does not tell. */
struct disturbance {
	double throttled_s;  /* of all CPUs together */
	double pressure_pct; /* of the time that passed */
	double steal_pct;    /* of the machine's CPU time */
	double foreign_pct;  /* likewise: used by other processes */
};

/* Of the groups, throttling is that of all levels together, pressure that of
 * the innermost one that tells, or else the machine's. */
void disturbance_read(struct disturbance_counters *counters, const char *root);

/* elapsed_s passed in between, in which own_cpu_s was used by who asks. */
struct disturbance
disturbance_between(const struct disturbance_counters *before,
		    const struct disturbance_counters *after, double elapsed_s,
		    double own_cpu_s);

#endif
