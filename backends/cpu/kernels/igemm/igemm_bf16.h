/* Factors rounded to bf16 and packed in pairs, for igemm_bf16*.c. */
#ifndef BACKENDS_CPU_KERNELS_IGEMM_IGEMM_BF16_H
#define BACKENDS_CPU_KERNELS_IGEMM_IGEMM_BF16_H

#include "backends/cpu/kernels/igemm/igemm_kernels.h"

#if defined(__x86_64__) && defined(__AVX512F__) && !defined(__AMX_BF16__)

#define WITH_BF16 __attribute__((target("avx512bf16")))

#define DEPTH 256 /* values of a tap, for the weight gradient */

static const float nothing[DEPTH];

/* Returns a mask of the first lanes. */
INLINE __mmask16 first_lanes(int lanes)
{
	return lanes >= LANES ? 0xffff : (__mmask16)((1u << lanes) - 1);
}

WITH_BF16 INLINE __m256i load_rounded(const float *from, int lanes)
{
	return (__m256i)_mm512_cvtneps_pbh(
		_mm512_maskz_loadu_ps(first_lanes(lanes), from));
}

/* Sets to[i] to the pair of first[i] and second[i], for i < count; pads the
 * last vector with 0. */
WITH_BF16 INLINE void pack_pairs(const float *first, const float *second,
				 int count, uint32_t *to)
{
	for (int i = 0; i < count; i += LANES) {
		const int lanes = count - i;
		const __m512i low = _mm512_cvtepu16_epi32(
			load_rounded(first + i, lanes));
		const __m512i high = _mm512_slli_epi32(
			_mm512_cvtepu16_epi32(load_rounded(second + i, lanes)),
			16);

		_mm512_storeu_si512(to + i, _mm512_or_si512(low, high));
	}
}

void ISA_NAME(igemm_differentiate_bf16)(const struct igemm *igemm,
					 const struct igemm_batch *batch,
					 const float *dy, float *dw,
					 float *dbias, void *scratch);

#endif
#endif
