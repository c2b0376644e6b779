/* Scratch memory that a kernel cuts into arrays. The same function cuts it and,
 * given NULL, computes its size. */
#ifndef BACKENDS_CPU_KERNELS_SIMD_SCRATCH_H
#define BACKENDS_CPU_KERNELS_SIMD_SCRATCH_H

#include <stddef.h>

#include "backends/contract/allocator.h"

/* Returns the next size bytes of scratch, or NULL without scratch, and adds
 * size, rounded up to cache lines, to used. */
static inline void *scratch_take(void *scratch, size_t *used, size_t size)
{
	void *taken = scratch ? (char *)scratch + *used : NULL;

	*used += (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	return taken;
}

#endif
