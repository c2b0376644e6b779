#include "backends/host/pages.h"

#include <stdint.h>
#include <sys/mman.h>

void pages_prefer_huge(void *memory, size_t size)
{
	const uintptr_t from = (uintptr_t)memory, to = from + size;
	const uintptr_t page = PAGES_HUGE;
	const uintptr_t first = (from + page - 1) / page * page;
	const uintptr_t last = to / page * page;

	if (first < last)
		(void)madvise((void *)first, last - first, MADV_HUGEPAGE);
}
