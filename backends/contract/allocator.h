/* Memory that somebody else gives, and keeps until he ends. */
#ifndef BACKENDS_CONTRACT_ALLOCATOR_H
#define BACKENDS_CONTRACT_ALLOCATOR_H

#include <stddef.h>

#include "backends/contract/error.h"

#define CACHE_LINE 64 /* bytes */

struct allocator {
	int rank, size; /* who asks, and of how many */
	/* Zeroed and aligned to a cache line; not to be freed. NULL: there is
	 * none left. */
	void *(*allocate)(struct allocator *allocator, size_t bytes,
			  struct error *err);
	/* The same, but one for all ranks, each of which may see it elsewhere.
	 * All ask for the same in the same order, and meet here. */
	void *(*share)(struct allocator *allocator, size_t bytes,
		       struct error *err);
};

#endif
