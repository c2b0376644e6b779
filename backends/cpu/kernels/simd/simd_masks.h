/* Masks that choose lanes, operations under a mask, and bytes that each belong
 * to a lane. */
#ifndef BACKENDS_CPU_KERNELS_SIMD_SIMD_MASKS_H
#define BACKENDS_CPU_KERNELS_SIMD_SIMD_MASKS_H

#include "backends/cpu/kernels/simd/simd.h"

/* A choice per lane: bits of a mask register, or all bits of the lane.
 * Comparisons with a NaN are false, except mask_differ(x, x). */
#if defined(__AVX512F__)
typedef __mmask16 mask;

/* Chooses what ReLU passes: all but values at or below 0. A NaN passes. */
INLINE mask mask_passes(vec value)
{
	return _mm512_cmp_ps_mask((__m512)value, _mm512_setzero_ps(),
				  _CMP_NLE_UQ);
}

INLINE mask mask_differ(vec a, vec b)
{
	return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_NEQ_UQ);
}

/* Convert between a mask and bits: lane i is chosen if bit i is set. */
INLINE mask mask_from_bits(uint32_t bits)
{
	return (__mmask16)bits;
}

INLINE uint32_t mask_bits(mask chosen)
{
	return chosen;
}

/* Chooses the lanes whose byte equals value. */
INLINE mask mask_of_bytes(const uint8_t *bytes, uint8_t value)
{
	return _mm_cmpeq_epi8_mask(
		_mm_loadu_si128((const __m128i *)(const void *)bytes),
		_mm_set1_epi8((char)value));
}

/* Returns yes where chosen, else no. */
INLINE vec vec_choose(mask chosen, vec yes, vec no)
{
	return (vec)_mm512_mask_blend_ps(chosen, (__m512)no, (__m512)yes);
}

/* Returns value where chosen, else 0. */
INLINE vec vec_keep(mask chosen, vec value)
{
	return (vec)_mm512_maskz_mov_ps(chosen, (__m512)value);
}

/* Chooses lanes where a is greater than b, or a is a NaN and b is not. */
INLINE mask mask_wins(vec a, vec b)
{
	return _mm512_mask_cmp_ps_mask(
		_mm512_cmp_ps_mask((__m512)b, (__m512)b, _CMP_ORD_Q),
		(__m512)a, (__m512)b, _CMP_NLE_UQ);
}

/* One byte per lane. */
typedef __m128i lane_bytes;

INLINE lane_bytes bytes_set(uint8_t value)
{
	return _mm_set1_epi8((char)value);
}

INLINE lane_bytes bytes_choose(mask chosen, lane_bytes yes,
			       lane_bytes no)
{
	return _mm_mask_blend_epi8(chosen, no, yes);
}

INLINE void bytes_store(uint8_t *to, lane_bytes value)
{
	_mm_storeu_si128((__m128i *)(void *)to, value);
}

INLINE void bytes_store_part(uint8_t *to, lane_bytes value, int first,
			     int count)
{
	_mm_mask_storeu_epi8((void *)((uintptr_t)to - (unsigned)first),
			     (__mmask16)(((1u << count) - 1) << first), value);
}
#else
typedef lanes_int mask;

INLINE mask mask_passes(vec value)
{
#if defined(__AVX2__)
	return (mask)_mm256_cmp_ps((__m256)value, _mm256_setzero_ps(),
				   _CMP_NLE_UQ);
#else
	return ~(value <= vec_set(0));
#endif
}

INLINE mask mask_differ(vec a, vec b)
{
	return a != b;
}

INLINE mask mask_from_bits(uint32_t bits)
{
#if LANES == 8
	const lanes_int lane = { 1, 2, 4, 8, 16, 32, 64, 128 };
#else
	const lanes_int lane = { 1, 2, 4, 8 };
#endif

	return (lane & (int32_t)bits) == lane;
}

INLINE uint32_t mask_bits(mask chosen)
{
#if defined(__AVX2__)
	return (uint32_t)_mm256_movemask_ps((__m256)chosen);
#else
	uint32_t bits = 0;

	for (int i = 0; i < LANES; i++)
		bits |= (uint32_t)(chosen[i] & 1) << i;
	return bits;
#endif
}

INLINE mask mask_of_bytes(const uint8_t *bytes, uint8_t value)
{
	mask chosen;

	for (int i = 0; i < LANES; i++)
		chosen[i] = -(bytes[i] == value);
	return chosen;
}

INLINE vec vec_choose(mask chosen, vec yes, vec no)
{
#if defined(__AVX2__)
	return (vec)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)chosen);
#else
	return (vec)(((lanes_int)yes & chosen) | ((lanes_int)no & ~chosen));
#endif
}

INLINE vec vec_keep(mask chosen, vec value)
{
	return (vec)((lanes_int)value & chosen);
}

INLINE mask mask_wins(vec a, vec b)
{
	return ~(a <= b) & (b == b);
}

/* Each byte occupies its lane until it is stored. */
typedef lanes_int lane_bytes;

INLINE lane_bytes bytes_set(uint8_t value)
{
	return (lanes_int){ 0 } + value;
}

INLINE lane_bytes bytes_choose(mask chosen, lane_bytes yes,
			       lane_bytes no)
{
	return (lane_bytes)vec_choose(chosen, (vec)yes, (vec)no);
}

INLINE void bytes_store(uint8_t *to, lane_bytes value)
{
#if defined(__AVX2__)
	const __m128i words = _mm_packs_epi32(
		_mm256_castsi256_si128((__m256i)value),
		_mm256_extracti128_si256((__m256i)value, 1));

	_mm_storeu_si64(to, _mm_packus_epi16(words, words));
#else
	for (int i = 0; i < LANES; i++)
		to[i] = (uint8_t)value[i];
#endif
}

INLINE void bytes_store_part(uint8_t *to, lane_bytes value, int first,
			     int count)
{
	uint8_t values[LANES];

	bytes_store(values, value);
	for (int i = 0; i < count; i++)
		to[i] = values[first + i];
}
#endif

/* Loads bytes as integers; like vec_load_first(), reads only count of them. */
INLINE lanes_int bytes_load_first(const uint8_t *from, int count)
{
	lanes_int value = { 0 };

#if defined(__AVX512F__)
	value = (lanes_int)_mm512_cvtepu8_epi32(
		_mm_maskz_loadu_epi8((__mmask16)((1u << count) - 1), from));
#elif defined(__AVX2__)
	uint64_t bits = 0;

	if (count == LANES)
		memcpy(&bits, from, sizeof(bits));
	else
		for (int i = 0; i < count; i++)
			bits |= (uint64_t)from[i] << 8 * i;
	value = (lanes_int)_mm256_cvtepu8_epi32(
		_mm_cvtsi64_si128((long long)bits));
#else
	for (int i = 0; i < count; i++)
		value[i] = from[i];
#endif
	return value;
}

/* Stores the chosen lanes one after the other. The rest of the LANES floats at
 * to may be overwritten with any value. */
INLINE void vec_store_chosen(float *to, mask chosen, vec value)
{
#if defined(__AVX512F__)
	_mm512_storeu_ps(to, _mm512_maskz_compress_ps(chosen, (__m512)value));
#elif defined(__AVX2__)
	const uint64_t places =
		_pdep_u64(mask_bits(chosen), 0x0101010101010101) * 0xff;
	const __m128i order = _mm_cvtsi64_si128(
		(long long)_pext_u64(0x0706050403020100, places));

	vec_store(to, (vec)_mm256_permutevar8x32_ps(
			      (__m256)value, _mm256_cvtepu8_epi32(order)));
#else
	/* Lanes that were stored may be read as integers. */
	typedef float lane __attribute__((may_alias));
	lane *next = to;

	for (int i = 0; i < LANES; i++) {
		*next = value[i];
		next += chosen[i] & 1;
	}
#endif
}

#endif
