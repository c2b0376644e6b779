/*
 * One vector register of floats, and operations that GCC's vector extensions
 * lack. The Makefile compiles each kernel once per instruction set (ISA). Sums
 * and products are plain operators, and a * b + c becomes one FMA
 * (-ffp-contract=fast).
 */
#ifndef BACKENDS_CPU_KERNELS_SIMD_SIMD_H
#define BACKENDS_CPU_KERNELS_SIMD_SIMD_H

#include <stddef.h>
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
#ifdef __SANITIZE_ADDRESS__
#define UNROLL /* unrolled, its checks take gcc minutes */
#else
#define UNROLL _Pragma("GCC unroll 64")
#endif

/* Vectorizes the loop after it. Each iteration must read and write only its own
 * elements; arrays may coincide. */
#ifdef __clang__
#define EACH_ALONE _Pragma("clang loop vectorize(assume_safety)")
#else
#define EACH_ALONE _Pragma("GCC ivdep")
#endif

/* Name of a kernel in the build being compiled: stem_forward_avx512. */
#define ISA_PASTE(name, isa) name##_##isa
#define ISA_EXPAND(name, isa) ISA_PASTE(name, isa)
#define ISA_NAME(name) ISA_EXPAND(name, ISA)

/* Name of a kernel that does not use tiles. The build for AMX uses AVX-512's:
 * see KERNELS_VECTORS in the Makefile. */
#ifdef __AMX_BF16__
#define VEC_ISA avx512
#else
#define VEC_ISA ISA
#endif
#define VEC_NAME(name) ISA_EXPAND(name, VEC_ISA)

/* ISA_TEXT(ISA) is the build's name: "avx512". */
#define ISA_QUOTE(isa) #isa
#define ISA_TEXT(isa) ISA_QUOTE(isa)

typedef float vec __attribute__((vector_size(LANES * 4), may_alias));
typedef float vec_unaligned
	__attribute__((vector_size(LANES * 4), may_alias, aligned(4)));
typedef int32_t lanes_int __attribute__((vector_size(LANES * 4), may_alias));

/* Returns the address, opaque to the compiler. GCC may otherwise fold it into
 * many loads' addresses, and need more registers than there are. */
INLINE const float *address_hold(const float *address)
{
	__asm__("" : "+r"(address));
	return address;
}

/*
 * Prefetch the cache line of base[at], to be read or written soon. The address
 * may lie outside base's array, where C forbids forming a pointer. An unmapped
 * address is ignored.
 */
#define FETCH_AT(base, at) \
	((const void *)((uintptr_t)(base) + sizeof(float) * (uintptr_t)(at)))

INLINE void fetch(const float *base, ptrdiff_t at)
{
	__builtin_prefetch(FETCH_AT(base, at));
}

INLINE void fetch_to_write(const float *base, ptrdiff_t at)
{
	__builtin_prefetch(FETCH_AT(base, at), 1);
}

/* Prefetches into the second level of the cache. */
INLINE void fetch_early(const float *base, ptrdiff_t at)
{
	__builtin_prefetch(FETCH_AT(base, at), 0, 2);
}

/* Prefetches the byte number at into the second level of the cache. */
INLINE void fetch_byte_early(const void *base, size_t at)
{
	__builtin_prefetch((const void *)((uintptr_t)base + at), 0, 2);
}

INLINE vec vec_load(const float *from)
{
	return *(const vec_unaligned *)from;
}

INLINE void vec_store(float *to, vec value)
{
	*(vec_unaligned *)to = value;
}

/* Returns value in every lane. */
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
/* Returns a mask with all bits of the first count lanes set. */
INLINE __m256i lanes_first(int count)
{
	return _mm256_cmpgt_epi32(_mm256_set1_epi32(count),
				  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
#endif

/*
 * Loads the first count lanes and sets the others to 0; reads no further float.
 */
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

/* Stores lanes first .. first + count - 1 to to[0 .. count - 1]. A masked
 * store's address may lie outside the array. */
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

/*
 * Sets lane i of to[n] to from[places[i] + n] if bit i is set, else to 0. All
 * places must be readable. AVX-512 loads and transposes, since a gather takes
 * 47 cycles on Zen 5.
 */
INLINE void vec_gather_four(const float *from, const int32_t *places,
			    uint32_t bits, vec to[4])
{
#if defined(__AVX512F__)
	const __mmask16 set = (__mmask16)bits;
	__m512 four[4], low[2], high[2];

	UNROLL for (int i = 0; i < 4; i++) {
		const int32_t *at = places + i;
		__m512 all = _mm512_castps128_ps512(_mm_loadu_ps(from + at[0]));

		all = _mm512_insertf32x4(all, _mm_loadu_ps(from + at[4]), 1);
		all = _mm512_insertf32x4(all, _mm_loadu_ps(from + at[8]), 2);
		all = _mm512_insertf32x4(all, _mm_loadu_ps(from + at[12]), 3);
		four[i] = all;
	}
	UNROLL for (int i = 0; i < 2; i++) {
		low[i] = _mm512_unpacklo_ps(four[2 * i], four[2 * i + 1]);
		high[i] = _mm512_unpackhi_ps(four[2 * i], four[2 * i + 1]);
	}
	to[0] = (vec)_mm512_maskz_shuffle_ps(set, low[0], low[1], 0x44);
	to[1] = (vec)_mm512_maskz_shuffle_ps(set, low[0], low[1], 0xee);
	to[2] = (vec)_mm512_maskz_shuffle_ps(set, high[0], high[1], 0x44);
	to[3] = (vec)_mm512_maskz_shuffle_ps(set, high[0], high[1], 0xee);
#else
	for (int n = 0; n < 4; n++) {
		vec value = { 0 };

		for (int i = 0; i < LANES; i++)
			if (bits >> i & 1)
				value[i] = from[places[i] + n];
		to[n] = value;
	}
#endif
}

/* Returns table[places[i]] in each lane; the low bits of a place count: 4 with
 * AVX-512, 3 with AVX2, else 2. */
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

/* Returns a where it is greater, else b; b too if either is a NaN. */
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

/* Returns the sum of the lanes, always added in the same order. */
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

/* Returns value and keeps it in a register; the compiler may otherwise load it
 * again for each product. */
INLINE vec vec_hold(vec value)
{
#if defined(__x86_64__)
	__asm__("" : "+v"(value));
#endif
	return value;
}

/*
 * Returns value, rounded to fp32. The compiler may otherwise fuse a product
 * with a later addition into one FMA where it sees both. The bits would then
 * depend on the surrounding loops.
 */
INLINE vec vec_rounded(vec value)
{
#if defined(__x86_64__)
	__asm__("" : "+v"(value));
#elif defined(__aarch64__)
	__asm__("" : "+w"(value));
#else
	__asm__("" : "+m"(value)); /* memory: on any processor */
#endif
	return value;
}

/* Returns 1 / sqrt(value), relative error 3e-7, for finite value above 0. */
INLINE vec vec_rsqrt(vec value)
{
#if defined(__AVX512F__)
	/* 14 bits, doubled by a step of Newton's method. */
	const vec guess = (vec)_mm512_rsqrt14_ps((__m512)value);
	const vec off = 1 - value * guess * guess;

	return guess + guess * off * .5f;
#elif defined(__AVX2__)
	/* 12 bits, tripled by a step of Halley's method. */
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
