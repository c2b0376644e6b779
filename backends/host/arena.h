/*
 * Blocks of one allocation: each is needed from one step of a schedule to
 * another, and those that are never needed together share memory.
 */
#ifndef BACKENDS_HOST_ARENA_H
#define BACKENDS_HOST_ARENA_H

#include <stddef.h>

#define ARENA_LINE 64 /* bytes; sizes are rounded up to it */

struct arena_block {
	size_t size;	 /* bytes; of 0 it takes no room */
	int first, last; /* steps that need it; those between do, too */
	size_t offset;	 /* set by arena_plan(), a multiple of ARENA_LINE */
	int next;	 /* its own */
};

/*
 * Places count blocks so that no two that are needed in one step overlap, and
 * returns the bytes that all of them take: the largest first, each in the
 * smallest gap between those that are there.
 */
size_t arena_plan(struct arena_block *blocks, int count);

#endif
