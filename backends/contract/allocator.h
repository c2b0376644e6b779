/* Memory that the caller owns and keeps until it ends. */
#ifndef BACKENDS_CONTRACT_ALLOCATOR_H
#define BACKENDS_CONTRACT_ALLOCATOR_H

#include <stddef.h>

#include "backends/contract/error.h"

#define CACHE_LINE 64 /* bytes */

struct allocator {
	int rank, size; /* the caller's rank, and the number of ranks */
	/* 1 = all ranks must call allocate together, as they do share */
	int meets;
	/* Returns bytes of memory, zeroed and aligned to a cache line, not to
	 * be freed; NULL with err if there is not enough. */
	void *(*allocate)(struct allocator *allocator, size_t bytes,
			  struct error *err);
	/*
	 * Returns one piece of memory for all ranks; each may see it at another
	 * address. All ranks must call it with equal sizes in one order, and
	 * meet in it. NULL with err if there is not enough.
	 */
	void *(*share)(struct allocator *allocator, size_t bytes,
		       struct error *err);
};

#endif
