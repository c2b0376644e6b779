/*
 * A data set that a program holds, so that batches need not bring their
 * samples: each says only which they are.
 */
#ifndef BACKENDS_HELD_H
#define BACKENDS_HELD_H

#include <stdint.h>

#include "backends/error.h"

struct backend;
struct program;
struct score;

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

/* Whether the backend has a way to hold a data set ... */
int backend_holds(const struct backend *backend);
/* ... which it has to. */
int program_hold(struct program *program, const struct held_data *data,
		 struct error *err);
/* order has as many indexes as the training set that is held has samples. */
int program_order(struct program *program, const int *order,
		  struct error *err);

/* Then a device may run ahead of the host, too. Whether it does, which takes
 * ... */
int backend_runs_ahead(const struct backend *backend);
/* ... the scores of count gradients at once, with options.ahead. Bounded:
 * a gradient waits until not too many are on their way before it. */
int program_scores(struct program *program, struct score *scores, int count,
		   struct error *err);

#endif
