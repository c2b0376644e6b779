/* Was a process measured beside others? */
#ifndef BENCH_RECORD_DISTURBED_H
#define BENCH_RECORD_DISTURBED_H

#include "bench/record/run.h"

/*
 * Did others than the process take more of the machine than is usual on a quiet
 * one: the hypervisor, a quota, other programs? Its own cores, which may share
 * CPUs, are no others, and no time that was measured is asked.
 *
 * The kernel counts in ticks of 10 ms: the few of them that rounding alone can
 * make disturb nothing, whatever their share of a short process is.
 */
int run_is_disturbed(const struct run *run);

/* Did a quota alone do that? */
int run_is_throttled(const struct run *run);

#endif
