/*
 * Random numbers: MT19937 for parameters and orders, Philox for dropout and
 * crops.
 *
 * MT19937 works exactly as PyTorch's CPU generator, so that equal seeds give
 * equal parameters and sample orders. Philox4x32-10 (Salmon and others, SC
 * 2011) is a function of the element and the step, not of the order of calls.
 * Every backend and every number of cores therefore has the same masks and
 * crops of images.
 */
#ifndef MODELS_RANDOM_H
#define MODELS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#define MT19937_WORDS 624

struct mt19937 {
	uint32_t state[MT19937_WORDS];
	int next;
};

/* Seeds the generator with the low 32 bits of seed, as PyTorch does. */
void mt19937_seed(struct mt19937 *generator, unsigned long long seed);

uint32_t mt19937_next(struct mt19937 *generator);

/* Returns a number uniform in [from, to), from 24 random bits, in float
 * arithmetic with FMA. */
float mt19937_uniform(struct mt19937 *generator, float from, float to);

/* Draws count uniform numbers; from must be 0 or -to, for which double
 * arithmetic gives the bits of mt19937_uniform(). */
void mt19937_uniforms(struct mt19937 *generator, float from, float to,
		      size_t count, float *values);

/* Draws count words, as mt19937_next() returns them. */
void mt19937_words(struct mt19937 *generator, size_t count, uint32_t *words);

/* Advances the generator by count words. */
void mt19937_skip(struct mt19937 *generator, size_t count);

/*
 * Draws count numbers as torch.randn: normal with mean 0 and this deviation.
 * Below 16 numbers PyTorch has another method; here they are the first of 16.
 * PyTorch fills a tensor with uniform numbers; Box and Muller's method then
 * uses 8 of each 16 as radius and 8 as angle. A last group of fewer than 16 is
 * drawn again as the tensor's last 16. Results equal PyTorch's within rounding,
 * since its logarithms and cosines are its own.
 */
void mt19937_normal(struct mt19937 *generator, size_t count, float deviation,
		    float *values);

/* Sets order to torch.randperm(count) under seed: a permutation of 0 .. count -
 * 1. */
void random_permutation(unsigned long long seed, int count, int *order);

/* Returns four words of Philox at a place, with key (seed, seed >> 32). */
void random_words(unsigned long long seed, const uint32_t at[4],
		  uint32_t words[4]);

/*
 * Chooses which of count elements a dropout layer keeps: keep[i] is 1 with
 * probability 1 - drop. step counts the run's iterations from 0, sample is the
 * place in the global batch, layer the index in the model's table.
 *
 * Choice i is word i % 4 of Philox with key (seed, seed >> 32) and counter (i /
 * 4, sample, step, layer). Words of at least dropout_threshold(drop) keep.
 */
typedef void dropout_chooser(unsigned long long seed, uint32_t step,
			     uint32_t sample, uint32_t layer, double drop,
			     int count, uint8_t *keep);
dropout_chooser dropout_choices;

/* Returns the smallest Philox word that keeps: drop * 2^32. */
uint32_t dropout_threshold(double drop);

#endif
