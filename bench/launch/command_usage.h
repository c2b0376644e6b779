/*
 * What a command used and what went on beside it, which its parent reads: of
 * the whole process, not of a loop in it as `bench measure` has it.
 */
#ifndef BENCH_LAUNCH_COMMAND_USAGE_H
#define BENCH_LAUNCH_COMMAND_USAGE_H

#include "bench/record/run.h"
#include "bench/system/process.h"

struct command_usage {
	struct disturbance_counters before, after;
	double parent_cpu_s; /* ours in between; until its end, so far */
};

/* Just before it is started, and once it has ended: outside of its time. */
void command_usage_begin(struct command_usage *usage);
void command_usage_end(struct command_usage *usage);

/*
 * Fills the run's CPU time, memory, disturbance and machine from these, status
 * and run->total_s. What it started and did not wait for counts as others'.
 *
 * maxrss_bytes stays missing where the command took no more than we did: no
 * number of its own is known then (bench/system/process.h).
 */
void command_usage_describe(struct run *run, const struct command_usage *usage,
			    const struct process_status *status);

#endif
