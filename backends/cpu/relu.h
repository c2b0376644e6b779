/* ReLU of arrays. A NaN is not at most 0: it passes, and so does its slope. */
#ifndef BACKENDS_CPU_RELU_H
#define BACKENDS_CPU_RELU_H

#include <stddef.h>

static inline void relu_apply(float *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = values[i] <= 0 ? 0 : values[i];
}

/* Slopes by out, which ReLU made: they stop where it stopped. Dropout behind it
 * takes more, and its scale changes no sign. */
static inline void relu_stop(const float *restrict out, size_t count,
			     float *restrict slopes)
{
	for (size_t i = 0; i < count; i++)
		slopes[i] = out[i] <= 0 ? 0 : slopes[i];
}

#endif
