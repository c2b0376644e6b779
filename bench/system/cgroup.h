/* The control groups that this process is in, and what they allow it. */
#ifndef BENCH_SYSTEM_CGROUP_H
#define BENCH_SYSTEM_CGROUP_H

/*
 * Calls visit with the folder of each group that this process is in and that
 * has to do with CPUs, in either version of the files: its own first, then
 * those around it, each once. There need not be such a folder. root is put
 * before /proc and /sys, here and below: "" but in tests.
 */
typedef void cgroup_visitor(const char *folder, void *context);
void cgroup_visit(const char *root, cgroup_visitor *visit, void *context);

/*
 * The smallest CPU quota of these groups, in CPUs (cpu.max or
 * cpu.cfs_quota_us); NAN without one. What does not read like a quota is none.
 */
double cgroup_cpus(const char *root);

/* The smallest limit of their memory, in bytes (memory.max, version 2 alone);
 * NAN without one. */
double cgroup_memory(const char *root);

#endif
