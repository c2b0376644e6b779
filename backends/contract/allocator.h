/* Memory that is owned by the caller, who keeps it until he ends. */
#ifndef BACKENDS_CONTRACT_ALLOCATOR_H
#define BACKENDS_CONTRACT_ALLOCATOR_H

#include <stddef.h>

#include "backends/contract/error.h"

#define CACHE_LINE 64 /* bytes */

struct allocator {
	int rank, size; /* of the caller, and the world size */
	int meets;	/* allocate is as share is: all ranks call it */
	/* Zeroed and aligned to a cache line; not to be freed. NULL: there is
	 * none left. */
	void *(*allocate)(struct allocator *allocator, size_t bytes,
			  struct error *err);
	/* The same, but one for all ranks, each of which may see it elsewhere.
	 * All call it with the same sizes in the same order, and meet
	 * here. */
	void *(*share)(struct allocator *allocator, size_t bytes,
		       struct error *err);
};

#endif
