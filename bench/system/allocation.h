/*
 * How often this program has asked for memory: what a step should never do.
 *
 * The linker sends what our own objects ask of malloc, calloc, realloc,
 * aligned_alloc and posix_memalign through allocation.c (WRAPPED in the
 * Makefile). What libraries ask for by themselves is theirs, and not counted.
 */
#ifndef BENCH_SYSTEM_ALLOCATION_H
#define BENCH_SYSTEM_ALLOCATION_H

/* By the calling thread so far, whether it got the memory or not. */
long allocation_count(void);

#endif
