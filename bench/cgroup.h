/* What the control groups of this process allow it. */
#ifndef BENCH_CGROUP_H
#define BENCH_CGROUP_H

/*
 * The smallest CPU quota, in CPUs, of the groups that this process is in and
 * of those around them, in either version of the files (cpu.max or
 * cpu.cfs_quota_us); NAN without one. What does not read like a quota is none.
 * root is put before /proc and /sys: "" but in tests.
 */
double cgroup_cpus(const char *root);

#endif
