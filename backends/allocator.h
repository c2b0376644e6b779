/* Memory that somebody else gives, and keeps until he ends. */
#ifndef BACKENDS_ALLOCATOR_H
#define BACKENDS_ALLOCATOR_H

#include <stddef.h>

#include "backends/error.h"

struct allocator {
	/* Zeroed and aligned to a cache line; not to be freed. NULL: there is
	 * none left. */
	void *(*allocate)(struct allocator *allocator, size_t bytes,
			  struct error *err);
};

#endif
