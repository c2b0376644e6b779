/*
 * One step of one random network: on a backend, in double (the reference) and
 * by plain loops in float, which follow what the backend has decided but where
 * they tell how far rounding moves decisions.
 *
 * The bound of an error is what rounding explains: 8 times the distance of the
 * plain loops in float from double, and at least 1e-5 of the tensor's largest
 * entry, or of any tensor's where the gradient is 0 by construction, as by a
 * bias or a scale before batch norm. Where a gradient nearly cancels, one such
 * distance may be small by chance: a network that is over its bound is given
 * the most of several, of parameters that are one rounding away, and counted.
 */
#ifndef BENCH_VERIFY_VERIFY_TRIAL_H
#define BENCH_VERIFY_VERIFY_TRIAL_H

#include "bench/verify/random_model.h"
#include "bench/verify/verify_side.h"

/* A backend on trial; devices stay open from one network to the next. */
struct trial_bench {
	const struct target *target;
	const struct options *options;
	struct side tried, right, single; /* backend, double, float */
	int checked; /* threads that have checked the backend's library */
};

struct trial_result {
	double worst;	/* error, over its bound: more than 1 is wrong */
	char what[128]; /* has the worst */
	int is_dense;	/* every multiplication was done */
	int is_moved;	/* the bound is of several computations, see above */
	int is_alone;	/* several cores could not be tried */
};

/* -1: the network could not be tried. Either way the programs stay, so that
 * they can be asked, until trial_close_programs(). */
int trial_run(struct trial_bench *bench, const struct random_model *drawn,
	      struct trial_result *result, struct error *err);

void trial_close_programs(struct trial_bench *bench); /* devices stay */
void trial_close(struct trial_bench *bench);

#endif
