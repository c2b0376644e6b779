/*
 * Dynamic loss scaling for fp16. If a gradient is not finite in any rank, all
 * ranks skip the step and halve the scale. After 2000 steps without an overflow
 * it is doubled (github.com/NVIDIA/apex, apex/amp/scaler.py).
 */
#ifndef BACKENDS_PARALLEL_LOSS_SCALER_H
#define BACKENDS_PARALLEL_LOSS_SCALER_H

#include <stddef.h>
#include <stdint.h>

#include "backends/parallel/transport.h"

#define LOSS_SCALE_FIRST 65536
#define LOSS_SCALE_MOST 16777216
#define LOSS_SCALE_STEPS 2000

/* Equal in all ranks. */
struct loss_scaler {
	double scale; /* a power of 2, at least 1 */
	int steps;    /* since the scale changed */
	long skipped; /* steps skipped so far */
	long planned; /* step that overflows on purpose; -1 = none */
};

/*
 * loss_scaler_begin() is called before the first step. loss_scaler_plant()
 * overflows the last rank's gradient in the step that BENCH_TEST_OVERFLOW
 * names, from 0. Tests use it to see all ranks skip the same step.
 */
void loss_scaler_begin(struct loss_scaler *scaler);
void loss_scaler_plant(const struct loss_scaler *scaler,
		       const struct group *group, uint32_t step,
		       float *gradient, size_t count);

/* Returns 1 if all count values are finite. */
int loss_scaler_finite(const float *values, size_t count);

/*
 * Sets *made to 1 if every rank's part of the gradient is finite; finite: this
 * rank's is. Every rank must call it after each gradient, and waits for the
 * others. Returns -1 with ERROR_FAILED if the gradient overflows at scale 1.
 */
int loss_scaler_decide(struct loss_scaler *scaler, struct group *group,
		       int finite, int *made, struct error *err);

#endif
