/*
 * A valid network that nobody thought of, drawn from a seed: chains, residual
 * blocks and branches of every kind of layer, with odd sizes, strides and
 * padding. Draws are weighted so that each of the backends' solvers gets its
 * share. The same seed gives the same network on every machine.
 */
#ifndef BENCH_VERIFY_RANDOM_MODEL_H
#define BENCH_VERIFY_RANDOM_MODEL_H

#include <stdio.h>

#include "bench/data/dataset.h"
#include "models/model.h"

#define RANDOM_MOST_ROWS 14 /* before those that end the network */
#define RANDOM_ROWS (RANDOM_MOST_ROWS + 8)
#define RANDOM_NAME 8

/* Its model points into it: it is copied by random_model_copy() alone. */
struct random_model {
	unsigned long long seed;
	struct model model;
	struct layer layers[RANDOM_ROWS];
	char names[RANDOM_ROWS][RANDOM_NAME];
	char name[32];
	int batch, cores; /* at least one sample a core */
};

void random_model_draw(struct random_model *drawn, unsigned long long seed);

void random_model_copy(struct random_model *to,
		       const struct random_model *from);

/* Noise for a batch and for so many tested samples; which labels it has does
 * not matter either. -1: no memory. The caller releases it in any case. */
int random_model_samples(const struct random_model *drawn, int tested,
			 struct dataset *dataset);

/* The table of layers as C, and what else makes the case. */
void random_model_print(FILE *out, const struct random_model *drawn);

/*
 * A smaller one in one of several ways, the way counted from 0: 1; 0: that way
 * gives no valid network. -1: there is no such way.
 */
int random_model_shrink(struct random_model *smaller,
			const struct random_model *drawn, int way);

#endif
