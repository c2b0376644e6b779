/*
 * How far a check of one program against itself strays, from pairs that were
 * measured: checks are drawn from them again and again. Pure.
 */
#ifndef BENCH_GATE_NOISE_H
#define BENCH_GATE_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "backends/contract/error.h"

/* Pairs of each check that is drawn: 20, as many as `bench check` measures, or
 * all of count. */
size_t noise_check_pairs(size_t count);

/* Pairs below this are too few for a floor: checks that are drawn from them
 * are nearly all the same one. */
#define NOISE_LEAST_PAIRS 40

/*
 * The ratio, 1.012 say, that 19 of 20 checks stay within: the 95th percentile
 * of |HL|, Hodges and Lehmann's estimate, over a thousand checks. Each is of
 * noise_check_pairs() consecutive ones, that start anywhere and go on at the
 * beginning: what comes in spells stays together. Each pair's sign is tossed
 * anew, since either arm may have been called B.
 *
 * logs are ln(B / A) of count pairs in their order, 1 at least.
 */
int noise_floor(double *ratio, const double *logs, size_t count, uint32_t seed,
		struct error *err);

#endif
