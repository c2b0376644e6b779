/*
 * Scratch memory, cut into arrays by the kernel that uses it: the same function
 * cuts it and, given none, counts how much there has to be.
 */
#ifndef BACKENDS_CPU_KERNELS_SIMD_SCRATCH_H
#define BACKENDS_CPU_KERNELS_SIMD_SCRATCH_H

#include <stddef.h>

#include "backends/contract/allocator.h"

/*
 * The next size bytes of scratch, of which so many are used, in whole lines;
 * without scratch they are only counted.
 */
static inline void *scratch_take(void *scratch, size_t *used, size_t size)
{
	void *taken = scratch ? (char *)scratch + *used : NULL;

	*used += (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	return taken;
}

#endif
