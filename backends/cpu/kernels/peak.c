/*
 * Loops at the peak of a core, see backends/contract/peak.h:
 *
 *   multiply-add   s[i] = s[i] / 2 + 1 in registers: 2 operations per lane
 *   dot product    s[i] += a . b of pairs of bf16: 4 operations per lane
 *   read           s[i] += memory, vector by vector
 *
 * Each sum depends only on itself. The number of sums exceeds the longest
 * latency times the instructions that begin per cycle: 4 x 2 for multiply-adds
 * and additions of x86-64, 6 x 2 for bf16. The compiler can omit no operation:
 * floats may not be reassociated, and the initial sums are unknown to it.
 */
#include "backends/cpu/kernels/table.h"

#ifndef __AMX_BF16__ /* peak_amx.c has AMX's */

/* Sums in registers: x86-64 has 16, AVX-512 and arm64 have 32. */
#if defined(__AVX512F__) || defined(__aarch64__)
#define SUMS 20
#else
#define SUMS 12
#endif
#define READ_SUMS 8

/* Returns one number that depends on every sum. */
INLINE float sums_join(const vec *sums, int count)
{
	vec all = sums[0];

	for (int i = 1; i < count; i++)
		all += sums[i];
	return vec_sum(all);
}

static double multiply_add(const float *memory, size_t size, long rounds,
			   float *result)
{
	const vec half = vec_set(.5f), one = vec_set(1);
	vec sums[SUMS];

	(void)memory, (void)size;
	UNROLL
	for (int i = 0; i < SUMS; i++)
		sums[i] = vec_set(*result + (float)i);
	for (long r = 0; r < rounds; r++) {
		UNROLL
		for (int i = 0; i < SUMS; i++)
			sums[i] = sums[i] * half + one;
	}
	*result = sums_join(sums, SUMS);
	return 2. * LANES * SUMS * (double)rounds;
}

static double read_all(const float *memory, size_t size, long rounds,
		       float *result)
{
	const float *end = memory + size / sizeof(*memory);
	vec sums[READ_SUMS];

	UNROLL
	for (int i = 0; i < READ_SUMS; i++)
		sums[i] = vec_set(*result);
	for (long r = 0; r < rounds; r++)
		for (const float *at = memory; at < end;
		     at += READ_SUMS * LANES) {
			UNROLL
			for (int i = 0; i < READ_SUMS; i++)
				sums[i] += vec_load(at + i * LANES);
		}
	*result = sums_join(sums, READ_SUMS);
	return (double)size * (double)rounds;
}

#if defined(__x86_64__) && defined(__AVX512F__)
static int has_bf16(void)
{
	return __builtin_cpu_supports("avx512bf16") != 0;
}

__attribute__((target("avx512bf16"))) static double
dot_product(const float *memory, size_t size, long rounds, float *result)
{
	/* 1.0 in each half. */
	const __m512bh ones = (__m512bh)_mm512_set1_epi32(0x3f803f80);
	__m512 sums[SUMS];

	(void)memory, (void)size;
	UNROLL
	for (int i = 0; i < SUMS; i++)
		sums[i] = _mm512_set1_ps(*result + (float)i);
	for (long r = 0; r < rounds; r++) {
		UNROLL
		for (int i = 0; i < SUMS; i++)
			sums[i] = _mm512_dpbf16_ps(sums[i], ones, ones);
	}
	UNROLL
	for (int i = 1; i < SUMS; i++)
		sums[0] = _mm512_add_ps(sums[0], sums[i]);
	*result = _mm512_reduce_add_ps(sums[0]);
	return 4. * LANES * SUMS * (double)rounds;
}
#else
static int has_bf16(void)
{
	return 0;
}
#endif

static const struct peak peaks[] = {
	{ .name = "fp32 multiply-add", .isa = ISA_TEXT(ISA), .fp32 = 1,
	  .work = multiply_add },
	{ .name = "read", .isa = ISA_TEXT(ISA), .reads = 1, .work = read_all },
#if defined(__x86_64__) && defined(__AVX512F__)
	{ .name = "bf16 dot product", .isa = "avx512_bf16",
	  .work = dot_product },
#endif
};

const struct peak *ISA_NAME(peak)(int index)
{
	const int count = 2 + has_bf16();

	return index < count ? &peaks[index] : NULL;
}
#endif
