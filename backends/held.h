/*
 * A data set that a program holds, so that batches need not bring their
 * samples: each says only which they are.
 */
#ifndef BACKENDS_HELD_H
#define BACKENDS_HELD_H

#include <stdint.h>

#define PIXEL_VALUES 256

/* Samples as a data set has them. */
struct held_set {
	const uint8_t *images; /* [count][channel][row][column] */
	const uint8_t *labels; /* [count], each below the model's classes */
	int count;
};

struct held_data {
	struct held_set train, test; /* the count of either may be 0 */
	float pixels[PIXEL_VALUES];  /* what a byte of an image becomes */
};

#endif
