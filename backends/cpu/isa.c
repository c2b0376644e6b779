#include "backends/cpu/isa.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/platform/x86.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

const struct cpu_kernels *const cpu_builds[] = {
#if defined(__x86_64__)
	&cpu_kernels_amx,
	&cpu_kernels_avx512,
	&cpu_kernels_avx2,
#endif
	&cpu_kernels_portable,
	NULL,
};

int cpu_is_tested_with(const char *name)
{
	const char *best = getenv("BENCH_TEST_ISA");

	for (size_t i = 0; best && cpu_builds[i]; i++) {
		if (!strcmp(cpu_builds[i]->name, best))
			return 1;
		if (!strcmp(cpu_builds[i]->name, name))
			return 0;
	}
	return !best;
}

/* A name that no build has would remove all of them. */
static int check_test_isa(struct error *err)
{
	const char *best = getenv("BENCH_TEST_ISA");
	char names[64] = "";

	for (size_t i = 0; best && cpu_builds[i]; i++) {
		if (!strcmp(cpu_builds[i]->name, best))
			return 0;
		error_list(names, sizeof(names), cpu_builds[i]->name);
	}
	return best ? error_set(err, ERROR_MISSING, "BENCH_TEST_ISA: '%.20s' "
				"is not a build of the kernels; choose among: "
				"%s", best, names) : 0;
}

const struct cpu_kernels *cpu_choose_kernels(struct error *err)
{
	const char *wanted = getenv("BENCH_ISA");
	char names[64] = "";

	if (check_test_isa(err))
		return NULL;
	for (size_t i = 0; cpu_builds[i]; i++)
		if ((!wanted || !strcmp(cpu_builds[i]->name, wanted)) &&
		    cpu_builds[i]->supported())
			return cpu_builds[i];
	for (size_t i = 0; cpu_builds[i]; i++)
		if (cpu_builds[i]->supported())
			error_list(names, sizeof(names), cpu_builds[i]->name);
	error_set(err, ERROR_MISSING,
		  "BENCH_ISA: '%.20s' is not available on this CPU; choose "
		  "among: %s", wanted, names);
	return NULL;
}

#if defined(__x86_64__)
static int has_bf16(void)
{
	return __builtin_cpu_supports("avx512bf16") != 0;
}
#else
static int has_bf16(void)
{
	return 0;
}
#endif

const struct igemm_kernels *cpu_bf16_products(
	const struct cpu_kernels *kernels)
{
	/* A CPU below one with AMX has AVX-512 alone. */
	return has_bf16() && cpu_is_tested_with("amx") ? kernels->igemm_bf16 :
							 NULL;
}

/* Returns the best build that supports bf16 on this CPU, or NULL. */
static const struct cpu_kernels *find_bf16(void)
{
	for (size_t i = 0; cpu_builds[i]; i++)
		if (cpu_builds[i]->supported() &&
		    cpu_bf16_products(cpu_builds[i]))
			return cpu_builds[i];
	return NULL;
}

int cpu_check_precision(const struct cpu_kernels *kernels,
			const struct program_options *options,
			struct error *err)
{
	const struct cpu_kernels *able = find_bf16();

	if (options->precision != PRECISION_BF16)
		return 0;
	if (options->algorithm == ALGORITHM_DENSE)
		return error_set(err, ERROR_USAGE,
				 "--precision bf16: the dense algorithm is "
				 "fp32 only; leave out one of the two options");
	if (cpu_bf16_products(kernels))
		return 0;
	if (able)
		return error_set(err, ERROR_MISSING,
				 "--precision bf16: the %s kernels are fp32 "
				 "only; BENCH_ISA=%s supports it",
				 kernels->name, able->name);
	return error_set(err, ERROR_MISSING,
			 "--precision bf16 needs a CPU with AVX-512 for bf16 "
			 "(avx512_bf16); the %s kernels, the best on this CPU, "
			 "are fp32 only", kernels->name);
}

const struct peak *cpu_peak(int index)
{
	int others_read = 0;

	for (size_t i = 0; cpu_builds[i]; i++) {
		const struct peak *peak;
		int reads = 0;

		if (!cpu_builds[i]->supported())
			continue;
		for (int p = 0; (peak = cpu_builds[i]->peak(p)); p++) {
			reads |= peak->reads;
			/* The widest vectors read fastest. */
			if (!(peak->reads && others_read) && !index--)
				return peak;
		}
		others_read |= reads;
	}
	return NULL;
}

#if defined(__x86_64__) && defined(__linux__)
/* arch_prctl(2): requests a part of the state that a thread may have. */
#define REQUEST_PERMISSION 0x1023
#define TILE_DATA 18

int cpu_request_tiles(void)
{
	return CPU_FEATURE_PRESENT(AMX_BF16) && CPU_FEATURE_PRESENT(AMX_TILE) &&
	       !syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA);
}
#else
int cpu_request_tiles(void)
{
	return 0;
}
#endif
