/* Times the all-reduce of training over vectors of increasing size, on a
 * target's transport with one rank per core. */
#ifndef BENCH_LAUNCH_ALLREDUCE_BENCH_H
#define BENCH_LAUNCH_ALLREDUCE_BENCH_H

#include "backends/contract/error.h"
#include "bench/plan/target.h"
#include "bench/record/network.h"

enum { ALLREDUCE_SIZES = 13 }; /* vectors: 4 KiB to 16 MiB, in powers of 2 */

/*
 * Measures in this process and confines it to at most one CPU per core. If a
 * launcher starts the ranks, each rank calls this function. Fills
 * rows[ALLREDUCE_SIZES] in the first rank only; hosts is copied into the rows.
 * The process must not have opened a device.
 */
int allreduce_bench_measure(struct target *target, const char *hosts,
			    struct network_row *rows, struct error *err);

/*
 * Starts `bench env --network` and reads its rows, in one process or one per
 * rank, on hosts (NULL: this host). Fails with ERROR_STOPPED if a signal
 * arrives (bench/system/interrupt.h).
 */
int allreduce_bench_start(const struct target *target, const char *hosts,
			  struct network_row *rows, struct error *err);

#endif
