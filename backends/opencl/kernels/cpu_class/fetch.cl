/*
 * Prefetches a line of memory, LINE floats, that is soon read or written:
 * OpenCL's own prefetch() does nothing in PoCL. Memory that is not mapped is
 * ignored. FETCHES: the compiler has the function used here. It supports no
 * address spaces, but on a CPU all of them are one.
 */
#define LINE 16
#if FETCHES
#define FETCH(at) __builtin_prefetch((const void *)(size_t)(at))
#define FETCH_TO_WRITE(at) __builtin_prefetch((const void *)(size_t)(at), 1)
#else
#define FETCH(at)
#define FETCH_TO_WRITE(at)
#endif

/* Stores a vector past the caches, for what is read when they have long been
 * filled with other things: its line is not read first. It is aligned. */
#if FETCHES
#define STORE_PAST(value, at)                                               \
	__builtin_nontemporal_store(value, (global vec *)(at))
#else
#define STORE_PAST(value, at) (*(global vec *)(at) = (value))
#endif
