/* ReLU's gradient. A NaN is not at most 0: it passes, and so does the gradient
 * by it. */
#ifndef BACKENDS_CPU_RELU_H
#define BACKENDS_CPU_RELU_H

#include <stddef.h>

/* The gradient by out, which ReLU made, becomes 0 where out is. Dropout behind
 * it makes more of both 0, and its scale changes no sign. */
static inline void relu_stop(const float *restrict out, size_t count,
			     float *restrict dy)
{
	for (size_t i = 0; i < count; i++)
		dy[i] = out[i] <= 0 ? 0 : dy[i];
}

#endif
