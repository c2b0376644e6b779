/* Measures how far plain loops in float differ from double in one gradient.
 * Errors of the compared backend are bounded by multiples of that distance. */
#ifndef BENCH_VERIFY_VERIFY_ROUNDING_H
#define BENCH_VERIFY_VERIFY_ROUNDING_H

#include "bench/verify/verify_side.h"

/* The largest distances; absolute. */
struct rounding {
	double gradients[MODEL_MAX_TENSORS], buffers[MODEL_MAX_TENSORS];
	double loss;
	/* The regrets of double when it follows the decisions of the loops in
	 * float. */
	double regrets[MODEL_MAX_LAYERS];
};

struct rounding_task {
	const struct verify_task *verify;
	const struct batch *batch;
	/* The compared program, the one in double, and the plain loops in
	 * float. The latter two follow the decisions of the first, before the
	 * call and after it. */
	struct side *tried, *right, *single;
	uint8_t *decisions; /* room for the decisions of the batch */
	float *vectors[2];  /* room for parameters and for buffers */
};

/* Repeats the gradient in float. loss is the loss in double. All repetitions
 * but the first nudge the parameters by one rounding. regrets are 0 if times is
 * 1. Returns -1 if a program fails; the sides then stay as they are. */
int rounding_measure(struct rounding *rounding,
		     const struct rounding_task *task, double loss, int times,
		     struct error *err);

#endif
