#include "bench/system/caches.h"

#include <math.h>
#include <unistd.h>

#include "bench/system/cgroup.h"

/* Names of the GNU library; elsewhere no size is known. */
static const int names[] = {
#if defined(_SC_LEVEL1_DCACHE_SIZE)
	_SC_LEVEL1_DCACHE_SIZE,
	_SC_LEVEL2_CACHE_SIZE,
	_SC_LEVEL3_CACHE_SIZE,
#endif
	-1,
};

size_t cache_bytes(int level)
{
	const int known = sizeof(names) / sizeof(names[0]) - 1;
	const long bytes = level >= 1 && level <= known ?
				   sysconf(names[level - 1]) : 0;

	return bytes > 0 ? (size_t)bytes : 0;
}

size_t memory_free_bytes(void)
{
	const double limit = cgroup_memory("");
	double bytes = 0;

#if defined(_SC_AVPHYS_PAGES)
	bytes = (double)sysconf(_SC_AVPHYS_PAGES) *
		(double)sysconf(_SC_PAGESIZE);
#endif
	return bytes > 0 ? (size_t)fmin(bytes, limit) : 0;
}
