/*
 * Deliberate slowdowns: --straggler makes one core sleep, --inject adds work to
 * all cores. The target's name gets a suffix wherever it is written, so that
 * nobody mistakes such a run for a measurement.
 */
#ifndef BENCH_PLAN_SLOWDOWN_H
#define BENCH_PLAN_SLOWDOWN_H

#include "backends/contract/error.h"
#include "bench/options/options.h"
#include "bench/plan/target.h"

struct slowdown {
	int straggler;	    /* rank of the core that sleeps */
	double straggler_s; /* sleep in each iteration; 0 = none */
	double inject_pct;  /* extra work, in percent of an iteration; NAN =
			       none */
	char suffix[52];    /* suffix of the target's name: "+inject=5%" */
};

/*
 * Reads --straggler and --inject. Draws a percentage if --inject is a range;
 * each call draws anew. Fails with ERROR_USAGE if the target has no such core,
 * or if an option is malformed.
 */
int slowdown_plan(struct slowdown *slowdown, const struct target *target,
		  const struct options *options, struct error *err);

/* Writes the target's name and the suffix. A long name is cut, the suffix is
 * not. */
void slowdown_name(const struct slowdown *slowdown, const char *target,
		   char *name, size_t size);

#endif
