/* Large pages for large memory. */
#ifndef BACKENDS_HOST_PAGES_H
#define BACKENDS_HOST_PAGES_H

#include <stddef.h>

#define PAGES_HUGE ((size_t)2 << 20) /* bytes; of x86-64 */

/*
 * Asks for huge pages where size bytes of memory that nobody has touched yet
 * hold some, and does without where the system has none: a replica's vectors
 * and activations have more pages than the CPU remembers translations of.
 */
void pages_prefer_huge(void *memory, size_t size);

#endif
