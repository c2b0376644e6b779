#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu.h"

/* Best first. Other processors than x86-64 have the portable build alone. */
static const struct cpu_kernels *const builds[] = {
#if defined(__x86_64__)
	&cpu_kernels_avx512,
	&cpu_kernels_avx2,
#endif
	&cpu_kernels_portable,
};

#define BUILD_COUNT (sizeof(builds) / sizeof(builds[0]))

const struct cpu_kernels *cpu_choose_kernels(struct error *err)
{
	const char *wanted = getenv("BENCH_ISA");
	char names[64] = "";

	for (size_t i = 0; i < BUILD_COUNT; i++) {
		if (!builds[i]->supported())
			continue;
		if (!wanted || !strcmp(builds[i]->name, wanted))
			return builds[i];
		error_list(names, sizeof(names), builds[i]->name);
	}
	error_set(err, ERROR_MISSING,
		  "BENCH_ISA: '%.20s' is not to be had on this CPU; choose "
		  "among: %s", wanted, names);
	return NULL;
}
