/*
 * What is slowed down on purpose: by --straggler one core, which sleeps, and by
 * --inject all of them, which do more work. The name of the target says so
 * wherever it is written, so that nobody takes such a run for a measurement.
 */
#ifndef BENCH_PLAN_SLOWDOWN_H
#define BENCH_PLAN_SLOWDOWN_H

#include "backends/contract/error.h"
#include "bench/options/options.h"
#include "bench/plan/target.h"

struct slowdown {
	int straggler;	    /* rank of the core that sleeps */
	double straggler_s; /* so long in each iteration; 0: none does */
	double inject_pct;  /* more work, of an iteration's own; NAN: none */
	char suffix[52];    /* of the target's name: "+inject=5%" */
};

/*
 * From what was asked, for a target that has such a core. Of a range of shares
 * one is drawn, another one at each call.
 */
int slowdown_plan(struct slowdown *slowdown, const struct target *target,
		  const struct options *options, struct error *err);

/* The target's name, and what was done to it; a long name is cut, that not. */
void slowdown_name(const struct slowdown *slowdown, const char *target,
		   char *name, size_t size);

#endif
