/*
 * What else went on while a process measured: from what the kernel counts, of
 * the machine and of the control groups. None of it is a time that was
 * measured, so that a measurement may be rejected for it.
 */
#ifndef BENCH_SYSTEM_DISTURBANCE_H
#define BENCH_SYSTEM_DISTURBANCE_H

/* Counted so far, in seconds; NAN where the system does not tell. */
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

/*
 * Of the groups, throttling is that of all levels together, pressure that of
 * the innermost one that tells, or else the machine's. root is put before /proc
 * and /sys: "" but in tests.
 */
void disturbance_read(struct disturbance_counters *counters, const char *root);

/* elapsed_s passed in between, in which own_cpu_s was used by who asks. */
struct disturbance
disturbance_between(const struct disturbance_counters *before,
		    const struct disturbance_counters *after, double elapsed_s,
		    double own_cpu_s);

#endif
