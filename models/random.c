#include "models/random.h"

#include <math.h>
#include <string.h>

#include <Random123/philox.h>

#define MIDDLE 397 /* recurrence's distance, Matsumoto and Nishimura 1998 */

void mt19937_seed(struct mt19937 *generator, unsigned long long seed)
{
	uint32_t *s = generator->state;

	s[0] = (uint32_t)seed;
	for (uint32_t i = 1; i < MT19937_WORDS; i++)
		s[i] = 1812433253u * (s[i - 1] ^ (s[i - 1] >> 30)) + i;
	generator->next = MT19937_WORDS;
}

static uint32_t twist(uint32_t high, uint32_t low, uint32_t far)
{
	uint32_t joined = (high & 0x80000000u) | (low & 0x7fffffffu);

	return far ^ (joined >> 1) ^ (low & 1 ? 0x9908b0dfu : 0);
}

/* Loops without a modulus are vectorized. */
static void refill(struct mt19937 *generator)
{
	const int rest = MT19937_WORDS - MIDDLE, last = MT19937_WORDS - 1;
	uint32_t *s = generator->state;

	for (int i = 0; i < rest; i++)
		s[i] = twist(s[i], s[i + 1], s[i + MIDDLE]);
	for (int i = rest; i < last; i++)
		s[i] = twist(s[i], s[i + 1], s[i - rest]);
	s[last] = twist(s[last], s[0], s[last - rest]);
	generator->next = 0;
}

static uint32_t temper(uint32_t y)
{
	y ^= y >> 11;
	y ^= (y << 7) & 0x9d2c5680u;
	y ^= (y << 15) & 0xefc60000u;
	return y ^ (y >> 18);
}

/* Returns the next words, up to most, and sets count to their number. */
static const uint32_t *next_words(struct mt19937 *generator, size_t most,
				  size_t *count)
{
	const uint32_t *words;
	size_t left;

	if (generator->next == MT19937_WORDS)
		refill(generator);
	left = (size_t)(MT19937_WORDS - generator->next);
	words = generator->state + generator->next;
	*count = most < left ? most : left;
	generator->next += (int)*count;
	return words;
}

uint32_t mt19937_next(struct mt19937 *generator)
{
	size_t one;

	return temper(*next_words(generator, 1, &one));
}

void mt19937_words(struct mt19937 *generator, size_t count, uint32_t *words)
{
	for (size_t made; count; count -= made, words += made) {
		const uint32_t *next = next_words(generator, count, &made);

		for (size_t i = 0; i < made; i++)
			words[i] = temper(next[i]);
	}
}

void mt19937_skip(struct mt19937 *generator, size_t count)
{
	for (size_t passed; count; count -= passed)
		next_words(generator, count, &passed);
}

float mt19937_uniform(struct mt19937 *generator, float from, float to)
{
	float unit = (float)(mt19937_next(generator) & 0xffffff) * 0x1p-24f;

	/* Rounded once, as in PyTorch's builds with FMA. */
	return fmaf(unit, to - from, from);
}

void mt19937_uniforms(struct mt19937 *generator, float from, float to,
		      size_t count, float *values)
{
	const double span = (double)(to - from) * 0x1p-24;

	for (size_t made; count; count -= made, values += made) {
		const uint32_t *words = next_words(generator, count, &made);

		for (size_t i = 0; i < made; i++) {
			const int unit = (int)(temper(words[i]) & 0xffffff);

			values[i] = (float)(unit * span + from);
		}
	}
}

void mt19937_normal(struct mt19937 *generator, size_t count, float deviation,
		    float *values)
{
	float sixteen[16];

	if (count < 16) {
		mt19937_normal(generator, 16, deviation, sixteen);
		memcpy(values, sixteen, count * sizeof(*values));
		return;
	}
	mt19937_uniforms(generator, 0, 1, count, values);
	for (size_t i = 0; i < count; i += 16) {
		float *at = values + (i + 16 <= count ? i : count - 16);

		if (i + 16 > count)
			mt19937_uniforms(generator, 0, 1, 16, at);
		for (int j = 0; j < 8; j++) {
			const float radius = sqrtf(-2 * logf(1 - at[j]));
			const float angle = 2 * (float)M_PI * at[j + 8];

			at[j] = radius * cosf(angle) * deviation;
			at[j + 8] = radius * sinf(angle) * deviation;
		}
	}
}

void random_permutation(unsigned long long seed, int count, int *order)
{
	struct mt19937 generator;

	mt19937_seed(&generator, seed);
	for (int i = 0; i < count; i++)
		order[i] = i;
	for (int i = 0; i < count - 1; i++) {
		int other = i + (int)(mt19937_next(&generator) %
				      (uint32_t)(count - i));
		int taken = order[i];

		order[i] = order[other];
		order[other] = taken;
	}
}

void random_words(unsigned long long seed, const uint32_t at[4],
		  uint32_t words[4])
{
	const philox4x32_key_t key = {
		{ (uint32_t)seed, (uint32_t)(seed >> 32) }
	};
	philox4x32_ctr_t made;

	memcpy(made.v, at, sizeof(made.v));
	made = philox4x32(made, key);
	memcpy(words, made.v, sizeof(made.v));
}

uint32_t dropout_threshold(double drop)
{
	return drop < 1 ? (uint32_t)(drop * 0x1p32) : UINT32_MAX;
}

void dropout_choices(unsigned long long seed, uint32_t step, uint32_t sample,
		     uint32_t layer, double drop, int count, uint8_t *keep)
{
	const uint32_t threshold = dropout_threshold(drop);
	const philox4x32_key_t key = {
		{ (uint32_t)seed, (uint32_t)(seed >> 32) }
	};

	for (int i = 0; i < count; i += 4) {
		philox4x32_ctr_t at = {
			{ (uint32_t)i / 4, sample, step, layer }
		};
		philox4x32_ctr_t words = philox4x32(at, key);

		for (int j = 0; j < 4 && i + j < count; j++)
			keep[i + j] = words.v[j] >= threshold;
	}
}
