/* CPU time, memory and disturbance of a command, measured by its parent over
 * the whole process. `bench measure` measures its training loop only. */
#ifndef BENCH_LAUNCH_COMMAND_USAGE_H
#define BENCH_LAUNCH_COMMAND_USAGE_H

#include "bench/record/run.h"
#include "bench/system/process.h"

struct command_usage {
	struct disturbance_counters before, after;
	double parent_cpu_s; /* CPU time of this process meanwhile; a start
				value until the end */
};

/* Call them just before the command starts and after it has ended, outside of
 * its timed interval. */
void command_usage_begin(struct command_usage *usage);
void command_usage_end(struct command_usage *usage);

/*
 * Fills the run's CPU time, memory, disturbance and machine from usage, status
 * and run->total_s. Processes that the command did not wait for count as
 * others.
 *
 * maxrss_bytes stays missing if the command used no more memory than this
 * process: its own figure is not known then (bench/system/process.h).
 */
void command_usage_describe(struct run *run, const struct command_usage *usage,
			    const struct process_status *status);

#endif
