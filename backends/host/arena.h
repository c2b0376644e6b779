/*
 * Memory planning by lifetimes. Each block of one allocation is needed from one
 * step of a schedule to another; blocks that are never needed together share
 * memory.
 */
#ifndef BACKENDS_HOST_ARENA_H
#define BACKENDS_HOST_ARENA_H

#include <stddef.h>

#define ARENA_LINE 64 /* bytes; sizes are rounded up to it */

struct arena_block {
	size_t size;	 /* bytes; 0 = takes no memory */
	int first, last; /* steps that need it, and all between */
	size_t offset;	 /* set by arena_plan(), a multiple of ARENA_LINE */
	int next;	 /* arena_plan()'s own */
};

/*
 * Sets the offsets of count blocks so that blocks needed in one step do not
 * overlap. Returns the bytes of the allocation. The largest block comes first;
 * each goes into the smallest gap that fits.
 */
size_t arena_plan(struct arena_block *blocks, int count);

#endif
