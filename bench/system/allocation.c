#include "bench/system/allocation.h"

#include <stddef.h>

/* One count per thread: a core counts its own calls only. Volatile, since a
 * compiler that sees all files at once (-flto) assumes that malloc does not
 * change our variables, and would not read it again. */
static _Thread_local volatile long count;

/* The linker defines these names. The real functions are a sanitizer's, or
 * belong to a library that was loaded before. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
	count++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t number, size_t size)
{
	count++;
	return __real_calloc(number, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	count++;
	return __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	count++;
	return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
	count++;
	return __real_posix_memalign(memory, alignment, size);
}

long allocation_count(void)
{
	return count;
}
