#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu.h"

const struct cpu_kernels *const cpu_builds[] = {
#if defined(__x86_64__)
	&cpu_kernels_amx,
	&cpu_kernels_avx512,
	&cpu_kernels_avx2,
#endif
	&cpu_kernels_portable,
	NULL,
};

const struct cpu_kernels *cpu_choose_kernels(struct error *err)
{
	const char *wanted = getenv("BENCH_ISA");
	char names[64] = "";

	for (size_t i = 0; cpu_builds[i]; i++) {
		if (!cpu_builds[i]->supported())
			continue;
		if (!wanted || !strcmp(cpu_builds[i]->name, wanted))
			return cpu_builds[i];
		error_list(names, sizeof(names), cpu_builds[i]->name);
	}
	error_set(err, ERROR_MISSING,
		  "BENCH_ISA: '%.20s' is not to be had on this CPU; choose "
		  "among: %s", wanted, names);
	return NULL;
}

const struct peak *cpu_peak(int index)
{
	int best = 1;

	for (size_t i = 0; cpu_builds[i]; i++) {
		const struct peak *peak;

		if (!cpu_builds[i]->supported())
			continue;
		for (int p = 0; (peak = cpu_builds[i]->peak(p)); p++)
			/* The widest vectors read best. */
			if ((best || !peak->reads) && !index--)
				return peak;
		best = 0;
	}
	return NULL;
}
