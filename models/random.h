/*
 * Where random numbers come from.
 *
 * Parameters and sample orders come from MT19937 exactly as PyTorch's CPU
 * generator uses it, so that a seed means the same here and there. Dropout
 * comes from Philox4x32-10 (Salmon and others, SC 2011), a function of what is
 * dropped and not of when it is asked, so that every backend and every number
 * of cores sees the same masks; and so do crops of images.
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

/* Only the low 32 bits of seed count, as in PyTorch. */
void mt19937_seed(struct mt19937 *generator, unsigned long long seed);

uint32_t mt19937_next(struct mt19937 *generator);

/* Uniform in [from, to) from 24 random bits, in float arithmetic with FMA. */
float mt19937_uniform(struct mt19937 *generator, float from, float to);

/* count of them; from is 0 or -to, for which double arithmetic has the same
 * bits. */
void mt19937_uniforms(struct mt19937 *generator, float from, float to,
		      size_t count, float *values);

/* So many numbers, as mt19937_next() returns them. */
void mt19937_words(struct mt19937 *generator, size_t count, uint32_t *words);

/* As if so many had been drawn. */
void mt19937_skip(struct mt19937 *generator, size_t count);

/*
 * torch.randn: count of them, normal of mean 0 and this deviation; where that
 * is fewer than 16, which PyTorch draws otherwise, the first of 16. PyTorch
 * fills a tensor with uniform numbers, and then makes 8 of each 16 the radius
 * and 8 the angle of Box and Muller's method; the last 16 are drawn anew where
 * they do not fill up. Within rounding of its own, whose logarithms and cosines
 * differ.
 */
void mt19937_normal(struct mt19937 *generator, size_t count, float deviation,
		    float *values);

/* torch.randperm(count) under seed: order is a permutation of 0..count-1. */
void random_permutation(unsigned long long seed, int count, int *order);

/* Four words of Philox at a place, with key (seed, seed >> 32). */
void random_words(unsigned long long seed, const uint32_t at[4],
		  uint32_t words[4]);

/*
 * Which of count choices of one dropout layer are kept: keep[i] is 1 with
 * probability 1 - drop. step counts the iterations of the run from 0, sample
 * is the place in the global batch, layer the index in the model's table.
 *
 * Choice i is word i % 4 of Philox with key (seed, seed >> 32) and counter
 * (i / 4, sample, step, layer); it is kept when the word is at least
 * dropout_threshold(drop).
 */
typedef void dropout_chooser(unsigned long long seed, uint32_t step,
			     uint32_t sample, uint32_t layer, double drop,
			     int count, uint8_t *keep);
dropout_chooser dropout_choices;

/* Smallest Philox word that keeps: drop * 2^32. */
uint32_t dropout_threshold(double drop);

#endif
