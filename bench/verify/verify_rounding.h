/*
 * How far plain loops in float are from double in one gradient, which is what
 * an error of the side that is compared is held to.
 */
#ifndef BENCH_VERIFY_VERIFY_ROUNDING_H
#define BENCH_VERIFY_VERIFY_ROUNDING_H

#include "bench/verify/verify_side.h"

/* The largest distances, of tensors absolute. */
struct rounding {
	double gradients[MODEL_MAX_TENSORS], buffers[MODEL_MAX_TENSORS];
	double loss;
	/* Of double, where it decides as the loops in float would. */
	double regrets[MODEL_MAX_LAYERS];
};

struct rounding_task {
	const struct verify_task *verify;
	const struct batch *batch;
	/* Compared, in double, and by plain loops in float. The latter two
	 * follow what the first has decided, now and on return. */
	struct side *tried, *right, *single;
	uint8_t *decisions; /* room for those of the batch */
	float *vectors[2];  /* room for parameters, and for buffers */
};

/* loss: in double. times: of the loops, all but the first with parameters that
 * are one rounding away; regrets are 0 unless there are several. -1 if a
 * program fails, with the sides as they are then. */
int rounding_measure(struct rounding *rounding,
		     const struct rounding_task *task, double loss, int times,
		     struct error *err);

#endif
