/* From options to numbers: what a run of a target will do. */
#ifndef BENCH_RUN_PLAN_RUN_H
#define BENCH_RUN_PLAN_RUN_H

#include "bench/options/options.h"
#include "bench/run/target.h"
#include "bench/run/training.h"

/* Model, recipe and batch sizes; everything that needs no data. Of what only
 * some targets take, what this one does. */
int plan_run(struct training *training, const struct target *target,
	     const struct options *given, struct error *err);

/* The number of iterations, once the data set is known. */
int plan_iterations(struct training *training, const struct options *options,
		    struct error *err);

/* The data set that options ask for. */
int plan_dataset(struct dataset *dataset, const struct options *options,
		 struct error *err);

#endif
