/* The kernel table of one instruction set, and the test that this CPU supports
 * it. */
#include "backends/cpu/kernels/table.h"

#include "backends/cpu/kernels/kernels.h"

#if defined(__x86_64__) && defined(__AVX512F__)
static int has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512cd");
}
#endif

#if defined(__AMX_BF16__)
#define HAS_TILES 1

static int has_isa(void)
{
	return has_avx512() && __builtin_cpu_supports("avx512vbmi") &&
	       __builtin_cpu_supports("avx512vbmi2") &&
	       __builtin_cpu_supports("avx512bf16") && cpu_request_tiles();
}
#elif defined(__x86_64__) && defined(__AVX512F__)
static int has_isa(void)
{
	return has_avx512();
}
#elif defined(__x86_64__) && defined(__AVX2__)
static int has_isa(void)
{
	return __builtin_cpu_supports("avx2") &&
	       __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
#else
static int has_isa(void)
{
	return 1;
}
#endif

static int supported(void)
{
	return cpu_is_tested_with(ISA_TEXT(ISA)) && has_isa();
}

#ifndef HAS_TILES
#define HAS_TILES 0
#endif

#if defined(__x86_64__) && defined(__AVX512F__)
#define IGEMM_BF16 (&ISA_NAME(igemm_bf16))
#else
#define IGEMM_BF16 NULL
#endif

const struct cpu_kernels ISA_NAME(cpu_kernels) = {
	.name = ISA_TEXT(ISA),
	.supported = supported,
	.has_tiles = HAS_TILES,
	.choices = DROPOUT_CHOICES,
	.stem = &ISA_NAME(stem_kernels),
	.linear = &ISA_NAME(linear_kernels),
	.igemm = &VEC_NAME(igemm_kernels),
	.igemm_bf16 = IGEMM_BF16,
	.elementwise = &VEC_NAME(elementwise_kernels),
	.winograd = &ISA_NAME(winograd_kernels),
	.peak = ISA_NAME(peak),
};
