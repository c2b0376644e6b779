/* What gather.c takes from gather_weights.c. */
#ifndef BACKENDS_CPU_KERNELS_GATHER_KERNELS_H
#define BACKENDS_CPU_KERNELS_GATHER_KERNELS_H

#include "backends/cpu/kernels/gather.h"
#include "backends/cpu/kernels/simd.h"

/* outputs that tiles of sums have at once, and their rows. */
#if LANES == 16
#define MOST_ROWS 12
#define MOST_VECTORS 4
#elif LANES == 8
#define MOST_ROWS 6
#define MOST_VECTORS 2
#else
#define MOST_ROWS 3
#define MOST_VECTORS 4
#endif
#define PASS (MOST_VECTORS * LANES)

/* The first lanes of a vector, at most LANES; the others are 0. */
INLINE vec load_lanes(const float *from, int lanes)
{
	return lanes >= LANES ? vec_load(from) :
	       lanes > 0 ? vec_load_first(from, lanes) : vec_set(0);
}

INLINE void store_lanes(float *to, vec value, int lanes)
{
	if (lanes >= LANES)
		vec_store(to, value);
	else if (lanes > 0)
		vec_store_first(to, value, lanes);
}

void ISA_NAME(gather_differentiate)(const struct gather *gather,
				    const struct gather_batch *batch,
				    const float *dy, float *dw, float *dbias,
				    void *scratch);

#endif
