/*
 * One step of one random network: on a backend, in double (the reference) and
 * by plain loops in float. The latter two follow the backend's decisions,
 * except where they measure how far rounding moves decisions.
 *
 * The bound of an error is 8 times the distance between the plain loops in
 * float and double. It is at least 1e-5 of the tensor's largest entry. If the
 * gradient is 0 by construction (by a bias or scale before batch norm), 1e-5 is
 * relative to any tensor's largest entry. If a gradient nearly cancels, one
 * such distance may be small by chance. A network over its bound is therefore
 * measured again with the largest of several distances, of parameters moved by
 * one rounding, and counted.
 */
#ifndef BENCH_VERIFY_VERIFY_TRIAL_H
#define BENCH_VERIFY_VERIFY_TRIAL_H

#include "bench/verify/random_model.h"
#include "bench/verify/verify_side.h"

/* A backend on trial. Devices stay open between networks. */
struct trial_bench {
	const struct target *target;
	const struct options *options;
	struct side tried, right, single; /* backend, double, float */
	int checked; /* threads that have checked the backend's library */
};

struct trial_result {
	double worst;	/* largest error over its bound; wrong above 1 */
	char what[128]; /* the tensor or layer with the largest error */
	int is_dense;	/* 1: no multiplication was skipped */
	int is_moved;	/* 1: the bound is from several distances, see above */
	int is_alone;	/* 1: several cores could not be tried */
};

/* Compares one network. Returns -1 if it could not be tried. The programs stay
 * open, also after a failure, until trial_close_programs(). */
int trial_run(struct trial_bench *bench, const struct random_model *drawn,
	      struct trial_result *result, struct error *err);

void trial_close_programs(struct trial_bench *bench); /* keeps the devices */
void trial_close(struct trial_bench *bench);

#endif
