/*
 * What gather_bf16.c and gather_bf16_weights.c have in common: factors that are
 * rounded and packed in pairs, and the memory that is packed next.
 */
#ifndef BACKENDS_CPU_KERNELS_GATHER_BF16_H
#define BACKENDS_CPU_KERNELS_GATHER_BF16_H

#include "backends/cpu/kernels/gather_kernels.h"

#if defined(__x86_64__) && defined(__AVX512F__) && !defined(__AMX_BF16__)

#define WITH_BF16 __attribute__((target("avx512bf16")))

#define DEPTH 256 /* values of a row, or of a tap */
#define PAIRS (DEPTH / 2)

/*
 * What is packed next, in pieces of PIECE floats, is fetched into the second
 * level of the cache while tiles are computed, a line with each pair: packing
 * alone would wait for memory a third of the time where outputs are few.
 */
#define PIECE 64 /* or less, at the end of a row */
#define PIECE_LINES (PIECE / LINE)
/* For each pixel of dW: DEPTH values, and as many of dy. */
#define MOST_AHEAD (8 * MOST_CHUNK)

static const float nothing[DEPTH];

struct ahead {
	const float *from[MOST_AHEAD + PAIRS / PIECE_LINES + 1];
	int count, next;
};

INLINE void ahead_clear(struct ahead *ahead)
{
	ahead->count = ahead->next = 0;
}

INLINE void ahead_add(struct ahead *ahead, const float *from, int floats)
{
	for (int i = 0; i < floats && ahead->count < MOST_AHEAD; i += PIECE)
		ahead->from[ahead->count++] = from + i;
}

/* For so many pairs; what is behind the last is nothing. */
INLINE const float *const *ahead_take(struct ahead *ahead, int pairs)
{
	const float *const *from = ahead->from + ahead->next;
	const int taken = pairs / PIECE_LINES + 1;

	for (int i = ahead->count; i < ahead->next + taken; i++)
		ahead->from[i] = nothing;
	ahead->next += taken - 1;
	if (ahead->next > ahead->count)
		ahead->next = ahead->count;
	return from;
}

/* One line of what was taken, with pair p. */
INLINE void ahead_fetch(const float *const *taken, int p)
{
	fetch_early(taken[p / PIECE_LINES], p % PIECE_LINES * LINE);
}

/* The bits of lanes; others are 0. */
INLINE __mmask16 first_lanes(int lanes)
{
	return lanes >= LANES ? 0xffff : (__mmask16)((1u << lanes) - 1);
}

WITH_BF16 INLINE __m256i load_rounded(const float *from, int lanes)
{
	return (__m256i)_mm512_cvtneps_pbh(
		_mm512_maskz_loadu_ps(first_lanes(lanes), from));
}

/* to[i] = pair of first[i] and second[i], for i < count; what its last vector
 * has too much is 0. */
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

void ISA_NAME(gather_differentiate_bf16)(const struct gather *gather,
					 const struct gather_batch *batch,
					 const float *dy, float *dw,
					 float *dbias, void *scratch);

#endif
#endif
