/*
 * Dropout's choices (models/random.h) by Philox4x32-10, one counter per 64-bit
 * lane. The generator (Salmon and others, SC 2011) turns the counter (i,
 * sample, step, layer) into the words a, b, c, d of choices 4 i .. 4 i + 3, in
 * ten rounds:
 *
 *   a, b, c, d = high(q) ^ b ^ k, q, high(p) ^ d ^ l, p
 *   with  p = a * 0xd2511f53  and  q = c * 0xcd9e8d57
 *
 * The key k, l is the halves of the seed; both grow by constants. Each word is
 * in the lower half of its lane, which is the half that is multiplied; the rest
 * of a product in the upper half does no harm. A vector of even counters and
 * one of odd counters then fill the bytes of one.
 *
 * Ceiling: 6 operations per round and vector, on two ports. The portable build
 * uses models/random.c: SSE2's vectors are slower than one counter after the
 * other.
 */
#include "backends/cpu/kernels/table.h"

#if defined(__AVX512F__) || defined(__AVX2__)

#define ROUNDS 10

typedef uint32_t words __attribute__((vector_size(LANES * 4), may_alias));
typedef uint64_t counters __attribute__((vector_size(LANES * 4), may_alias));

/* Key, counter and threshold of one layer of one sample. */
struct draw {
	uint32_t key[2];
	uint32_t sample, step, layer;
	uint32_t threshold;
};

/* Returns the 64-bit products of the lanes' lower halves and factor. */
INLINE counters counters_multiply(counters a, uint32_t factor)
{
	const counters factors = (counters){ 0 } + factor;

#if defined(__AVX512F__)
	return (counters)_mm512_mul_epu32((__m512i)a, (__m512i)factors);
#else
	return (counters)_mm256_mul_epu32((__m256i)a, (__m256i)factors);
#endif
}

/* Returns four choices per counter, in the bytes of each lower half. */
INLINE counters choose(const struct draw *draw, counters at)
{
	counters a = at, b = (counters){ 0 } + draw->sample;
	counters c = (counters){ 0 } + draw->step;
	counters d = (counters){ 0 } + draw->layer;
	uint32_t k = draw->key[0], l = draw->key[1];
	words kept;

	UNROLL
	for (int r = 0; r < ROUNDS; r++) {
		const counters p = counters_multiply(a, 0xd2511f53);
		const counters q = counters_multiply(c, 0xcd9e8d57);

		a = (q >> 32) ^ b ^ k;
		b = q;
		c = (p >> 32) ^ d ^ l;
		d = p;
		k += 0x9e3779b9;
		l += 0xbb67ae85;
	}
	kept = (words)((words)a >= draw->threshold) & 0x1;
	kept |= (words)((words)b >= draw->threshold) & 0x100;
	kept |= (words)((words)c >= draw->threshold) & 0x10000;
	kept |= (words)((words)d >= draw->threshold) & 0x1000000;
	return (counters)kept;
}

void VEC_NAME(dropout_choices)(unsigned long long seed, uint32_t step,
			       uint32_t sample, uint32_t layer, double drop,
			       int count, uint8_t *keep)
{
	const struct draw draw = {
		.key = { (uint32_t)seed, (uint32_t)(seed >> 32) },
		.sample = sample,
		.step = step,
		.layer = layer,
		.threshold = dropout_threshold(drop),
	};
	const int each = 4 * LANES;
	counters even;

	for (int i = 0; i < LANES / 2; i++)
		even[i] = 2 * (uint64_t)i;
	for (int i = 0; i < count; i += each) {
		const int rest = count - i;
		const counters kept =
			(choose(&draw, even) & UINT32_MAX) |
			choose(&draw, even + 1) << 32;

		even += LANES;
		if (rest >= each)
			memcpy(keep + i, &kept, sizeof(kept));
		else
			memcpy(keep + i, &kept, (size_t)rest);
	}
}

#endif
