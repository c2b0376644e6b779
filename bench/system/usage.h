/* What the system has counted so far. */
#ifndef BENCH_SYSTEM_USAGE_H
#define BENCH_SYSTEM_USAGE_H

enum usage_of {
	USAGE_THREAD,	/* the calling one */
	USAGE_PROCESS,	/* all its threads */
	USAGE_CHILDREN, /* those that have ended and were waited for */
};

struct usage {
	double user_s, system_s; /* CPU time */
	long maxrss_bytes;	 /* peak memory; of children: the largest's */
	long voluntary_switches, involuntary_switches; /* of context */
};

struct rusage; /* the system's */
struct usage usage_from(const struct rusage *raw);

struct usage usage_read(enum usage_of whose);

/*
 * Memory that this process has for itself now, with its share of what
 * processes have mapped together: bytes that add up over the cores of a run
 * and the process that they were forked from, whose peak has the rest. Its
 * peak where the kernel does not tell.
 */
long usage_own_memory(void);

#endif
