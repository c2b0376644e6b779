/*
 * Counts the allocations of this program: a step should make none.
 *
 * The linker redirects calls of malloc, calloc, realloc, aligned_alloc and
 * posix_memalign in our objects to allocation.c (WRAPPED in the Makefile).
 * Calls inside libraries are not counted.
 */
#ifndef BENCH_SYSTEM_ALLOCATION_H
#define BENCH_SYSTEM_ALLOCATION_H

/* Returns the calls by the calling thread so far, including failed ones. */
long allocation_count(void);

#endif
