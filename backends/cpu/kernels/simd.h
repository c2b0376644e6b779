/*
 * One register of floats of the instruction set that a kernel is compiled for,
 * and what GCC's vector extensions cannot say about it. The makefile compiles
 * each kernel with ISA=avx512, avx2 and portable; sums and products are plain
 * operators, and a * b + c becomes one FMA (-ffp-contract=fast).
 */
#ifndef BACKENDS_CPU_KERNELS_SIMD_H
#define BACKENDS_CPU_KERNELS_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX2__)
#define LANES 8
#else
#define LANES 4
#endif

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 64")

/* A kernel's name in the build that it is in: stem_forward_avx512. */
#define ISA_PASTE(name, isa) name##_##isa
#define ISA_EXPAND(name, isa) ISA_PASTE(name, isa)
#define ISA_NAME(name) ISA_EXPAND(name, ISA)

typedef float vec __attribute__((vector_size(LANES * 4), may_alias));
typedef float vec_unaligned
	__attribute__((vector_size(LANES * 4), may_alias, aligned(4)));
typedef int32_t lanes_int __attribute__((vector_size(LANES * 4), may_alias));

/*
 * The address as it is: else GCC may fold it into those of many loads, and
 * keep more sums of addresses than there are registers.
 */
INLINE const float *address_hold(const float *address)
{
	__asm__("" : "+r"(address));
	return address;
}

INLINE vec vec_load(const float *from)
{
	return *(const vec_unaligned *)from;
}

INLINE void vec_store(float *to, vec value)
{
	*(vec_unaligned *)to = value;
}

/* value in every lane */
INLINE vec vec_set(float value)
{
#if defined(__AVX512F__)
	return (vec)_mm512_set1_ps(value);
#elif defined(__AVX2__)
	return (vec)_mm256_set1_ps(value);
#else
	return (vec){ value, value, value, value };
#endif
}

#if defined(__AVX2__)
/* All bits of the first count lanes. */
INLINE __m256i lanes_first(int count)
{
	return _mm256_cmpgt_epi32(_mm256_set1_epi32(count),
				  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
#endif

/* The first count lanes, 0 in the others; nothing beyond them is read. */
INLINE vec vec_load_first(const float *from, int count)
{
	vec value = { 0 };

#if defined(__AVX512F__)
	value = (vec)_mm512_maskz_loadu_ps(
		(__mmask16)((1u << count) - 1), from);
#elif defined(__AVX2__)
	value = (vec)_mm256_maskload_ps(from, lanes_first(count));
#else
	for (int i = 0; i < count; i++)
		value[i] = from[i];
#endif
	return value;
}

INLINE void vec_store_first(float *to, vec value, int count)
{
#if defined(__AVX512F__)
	_mm512_mask_storeu_ps(to, (__mmask16)((1u << count) - 1),
			      (__m512)value);
#elif defined(__AVX2__)
	_mm256_maskstore_ps(to, lanes_first(count), (__m256)value);
#else
	for (int i = 0; i < count; i++)
		to[i] = value[i];
#endif
}

/*
 * count lanes, the first one on, to to[0 .. count - 1]. A masked store may have
 * an address from which nothing is written.
 */
INLINE void vec_store_part(float *to, vec value, int first, int count)
{
#if defined(__AVX512F__)
	_mm512_mask_storeu_ps((void *)((uintptr_t)to -
				       sizeof(*to) * (unsigned)first),
			      (__mmask16)(((1u << count) - 1) << first),
			      (__m512)value);
#else
	float values[LANES];

	vec_store(values, value);
	for (int i = 0; i < count; i++)
		to[i] = values[first + i];
#endif
}

/* from[places[i]] in each lane whose bit is set, 0 in the others. */
INLINE vec vec_gather(const float *from, const int32_t *places, uint32_t bits)
{
#if defined(__AVX512F__)
	return (vec)_mm512_mask_i32gather_ps(_mm512_setzero_ps(),
					     (__mmask16)bits,
					     _mm512_loadu_si512(places), from,
					     sizeof(*from));
#else
	vec value = { 0 };

	for (int i = 0; i < LANES; i++)
		if (bits >> i & 1)
			value[i] = from[places[i]];
	return value;
#endif
}

/* Each byte as a lane. */
INLINE lanes_int lanes_of_bytes(const uint8_t *bytes)
{
#if defined(__AVX512F__)
	return (lanes_int)_mm512_cvtepu8_epi32(
		_mm_loadu_si128((const __m128i *)(const void *)bytes));
#elif defined(__AVX2__)
	return (lanes_int)_mm256_cvtepu8_epi32(
		_mm_loadl_epi64((const __m128i *)(const void *)bytes));
#else
	return (lanes_int){ bytes[0], bytes[1], bytes[2], bytes[3] };
#endif
}

/* table[places[i]] in each lane; of a place its lowest 2 bits count at least */
INLINE vec vec_lookup(vec table, lanes_int places)
{
#if defined(__AVX512F__)
	return (vec)_mm512_permutexvar_ps((__m512i)places, (__m512)table);
#elif defined(__AVX2__)
	return (vec)_mm256_permutevar8x32_ps((__m256)table, (__m256i)places);
#else
	vec value;

	for (int i = 0; i < LANES; i++)
		value[i] = table[places[i] & (LANES - 1)];
	return value;
#endif
}

/* a where it is greater, else b: b too if one is a NaN */
INLINE vec vec_max(vec a, vec b)
{
#if defined(__AVX512F__)
	return (vec)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
	return (vec)_mm256_max_ps((__m256)a, (__m256)b);
#else
	const lanes_int chosen = a > b;

	return (vec)(((lanes_int)a & chosen) | ((lanes_int)b & ~chosen));
#endif
}

/* The sum of the lanes, in one order for ever. */
INLINE float vec_sum(vec value)
{
#if defined(__AVX512F__)
	return _mm512_reduce_add_ps((__m512)value);
#else
	float sum = 0;

	for (int i = 0; i < LANES; i++)
		sum += value[i];
	return sum;
#endif
}

/*
 * A choice for each lane: bits of a mask register, or all bits of the lane.
 * Comparisons with a NaN are false, but for mask_differ(x, x).
 */
#if defined(__AVX512F__)
typedef __mmask16 mask;

INLINE mask mask_greater(vec a, vec b)
{
	return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GT_OQ);
}

INLINE mask mask_differ(vec a, vec b)
{
	return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_NEQ_UQ);
}

/* Lane i chosen where bit i is set, and back. */
INLINE mask mask_from_bits(uint32_t bits)
{
	return (__mmask16)bits;
}

INLINE uint32_t mask_bits(mask chosen)
{
	return chosen;
}

/* Where byte i is value. */
INLINE mask mask_of_bytes(const uint8_t *bytes, uint8_t value)
{
	return _mm_cmpeq_epi8_mask(
		_mm_loadu_si128((const __m128i *)(const void *)bytes),
		_mm_set1_epi8((char)value));
}

/* yes where chosen, else no */
INLINE vec vec_choose(mask chosen, vec yes, vec no)
{
	return (vec)_mm512_mask_blend_ps(chosen, (__m512)no, (__m512)yes);
}

/* value where chosen, else 0 */
INLINE vec vec_keep(mask chosen, vec value)
{
	return (vec)_mm512_maskz_mov_ps(chosen, (__m512)value);
}

/* Where a is greater than b, or a NaN and b none. */
INLINE mask mask_wins(vec a, vec b)
{
	return _mm512_mask_cmp_ps_mask(
		_mm512_cmp_ps_mask((__m512)b, (__m512)b, _CMP_ORD_Q),
		(__m512)a, (__m512)b, _CMP_NLE_UQ);
}

/* A byte for each lane. */
typedef __m128i bytes;

INLINE bytes bytes_set(uint8_t value)
{
	return _mm_set1_epi8((char)value);
}

INLINE bytes bytes_choose(mask chosen, bytes yes, bytes no)
{
	return _mm_mask_blend_epi8(chosen, no, yes);
}

INLINE void bytes_store(uint8_t *to, bytes value)
{
	_mm_storeu_si128((__m128i *)(void *)to, value);
}

INLINE void bytes_store_part(uint8_t *to, bytes value, int first, int count)
{
	_mm_mask_storeu_epi8((void *)((uintptr_t)to - (unsigned)first),
			     (__mmask16)(((1u << count) - 1) << first), value);
}
#else
typedef lanes_int mask;

INLINE mask mask_greater(vec a, vec b)
{
	return a > b;
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

/* Each in the lane that it is for, until it is stored. */
typedef lanes_int bytes;

INLINE bytes bytes_set(uint8_t value)
{
	return (lanes_int){ 0 } + value;
}

INLINE bytes bytes_choose(mask chosen, bytes yes, bytes no)
{
	return (bytes)vec_choose(chosen, (vec)yes, (vec)no);
}

INLINE void bytes_store(uint8_t *to, bytes value)
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

INLINE void bytes_store_part(uint8_t *to, bytes value, int first, int count)
{
	uint8_t values[LANES];

	bytes_store(values, value);
	for (int i = 0; i < count; i++)
		to[i] = values[first + i];
}
#endif

/* Bytes as integers; like vec_load_first() it reads no more than count. */
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

/*
 * The chosen lanes, one after the other; all of LANES floats may be written,
 * the others with anything.
 */
INLINE void vec_store_chosen(float *to, mask chosen, vec value)
{
#if defined(__AVX512F__)
	_mm512_storeu_ps(to, _mm512_maskz_compress_ps(chosen, (__m512)value));
#elif defined(__AVX2__)
	const uint64_t bytes =
		_pdep_u64(mask_bits(chosen), 0x0101010101010101) * 0xff;
	const __m128i order = _mm_cvtsi64_si128(
		(long long)_pext_u64(0x0706050403020100, bytes));

	vec_store(to, (vec)_mm256_permutevar8x32_ps(
			      (__m256)value, _mm256_cvtepu8_epi32(order)));
#else
	for (int i = 0; i < LANES; i++) {
		*to = value[i];
		to += chosen[i] & 1;
	}
#endif
}

/*
 * The same value, in a register from here on: the compiler would rather load
 * it again for each product.
 */
INLINE vec vec_hold(vec value)
{
#if defined(__x86_64__)
	__asm__("" : "+v"(value));
#endif
	return value;
}

/* 1 / sqrt(value) within 3e-7 of itself; value is above 0 and finite. */
INLINE vec vec_rsqrt(vec value)
{
#if defined(__AVX512F__)
	/* 14 bits, doubled by one step of Newton's. */
	const vec guess = (vec)_mm512_rsqrt14_ps((__m512)value);
	const vec off = 1 - value * guess * guess;

	return guess + guess * off * .5f;
#elif defined(__AVX2__)
	/* 12 bits, tripled by one step of Halley's. */
	const vec guess = (vec)_mm256_rsqrt_ps((__m256)value);
	const vec off = 1 - value * guess * guess;

	return guess + guess * off * (.5f + .375f * off);
#else
	for (int i = 0; i < LANES; i++)
		value[i] = 1 / __builtin_sqrtf(value[i]);
	return value;
#endif
}

#endif
