/* The caches of a core, as the system tells them. */
#ifndef BENCH_SYSTEM_CACHES_H
#define BENCH_SYSTEM_CACHES_H

#include <stddef.h>

/* Bytes of the data cache of this level, 1 to 3; 0: none, or not known. */
size_t cache_bytes(int level);

/* Bytes of memory that can be had without harm to others; 0: not known. */
size_t memory_free_bytes(void);

#endif
