/*
 * How long the all-reduce of training takes, over sizes of vectors: that of a
 * target's transport, with as many ranks as it has cores.
 */
#ifndef BENCH_LAUNCH_ALLREDUCE_BENCH_H
#define BENCH_LAUNCH_ALLREDUCE_BENCH_H

#include "backends/contract/error.h"
#include "bench/plan/target.h"
#include "bench/record/network.h"

enum { ALLREDUCE_SIZES = 13 }; /* of vectors: 4 KiB to 16 MiB */

/*
 * In this process, whose CPUs are then those of so many cores; where another
 * program starts the ranks, each of them calls it. hosts is for the rows, which
 * the first rank fills: ALLREDUCE_SIZES of them. The process has opened no
 * device.
 */
int allreduce_bench_measure(struct target *target, const char *hosts,
			    struct network_row *rows, struct error *err);

/*
 * The same by a process of its own, `bench env --network`, or by as many as the
 * target has ranks, on these hosts; NULL: this one. ERROR_STOPPED: a signal
 * came (bench/system/interrupt.h).
 */
int allreduce_bench_start(const struct target *target, const char *hosts,
			  struct network_row *rows, struct error *err);

#endif
