/*
 * Dynamic loss scaling, for gradients in fp16: where one is not finite in any
 * rank, all ranks leave the step out and halve the scale; after 2000 steps
 * without one it is doubled (github.com/NVIDIA/apex, apex/amp/scaler.py).
 */
#ifndef BACKENDS_PARALLEL_LOSS_SCALER_H
#define BACKENDS_PARALLEL_LOSS_SCALER_H

#include <stddef.h>
#include <stdint.h>

#include "backends/parallel/transport.h"

#define LOSS_SCALE_FIRST 65536
#define LOSS_SCALE_MOST 16777216
#define LOSS_SCALE_STEPS 2000

/* The same in all ranks. */
struct loss_scaler {
	double scale; /* a power of two from 1 on */
	int steps;    /* since the scale changed */
	long skipped; /* of all steps */
	long planned; /* the step that overflows on purpose; -1: none */
};

/*
 * Before the first step. A gradient overflows on purpose where the variable
 * BENCH_TEST_OVERFLOW names the step, from 0: that of the last rank. It exists
 * so that tests can see the ranks leave out the same step.
 */
void loss_scaler_begin(struct loss_scaler *scaler);
void loss_scaler_plant(const struct loss_scaler *scaler,
		       const struct group *group, uint32_t step,
		       float *gradient, size_t count);

/* Whether all count values are finite. */
int loss_scaler_finite(const float *values, size_t count);

/*
 * Behind each gradient, of which this rank has found its part finite or not:
 * *made is whether all have. Every rank calls it, and they meet. ERROR_FAILED
 * where it overflows without being scaled at all.
 */
int loss_scaler_decide(struct loss_scaler *scaler, struct group *group,
		       int finite, int *made, struct error *err);

#endif
