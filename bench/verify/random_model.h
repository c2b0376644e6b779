/*
 * Random valid networks, drawn from a seed: chains, residual blocks and
 * branches of every kind of layer, with odd sizes, strides and padding. Draws
 * are weighted so that each solver of the backends gets a share. A seed gives
 * the same network on every machine.
 */
#ifndef BENCH_VERIFY_RANDOM_MODEL_H
#define BENCH_VERIFY_RANDOM_MODEL_H

#include <stdio.h>

#include "bench/data/dataset.h"
#include "models/model.h"

#define RANDOM_MOST_ROWS 14 /* before the rows that end the network */
#define RANDOM_ROWS (RANDOM_MOST_ROWS + 8)
#define RANDOM_NAME 8

/* model points into this struct: copy it only with random_model_copy(). */
struct random_model {
	unsigned long long seed;
	struct model model;
	struct layer layers[RANDOM_ROWS];
	char names[RANDOM_ROWS][RANDOM_NAME];
	char name[32];
	int batch, cores; /* at least one sample per core */
};

void random_model_draw(struct random_model *drawn, unsigned long long seed);

void random_model_copy(struct random_model *to,
		       const struct random_model *from);

/* Fills dataset with noise: a batch to train on, and tested samples with
 * labels. Returns -1 if there is no memory; the caller releases dataset in
 * either case. */
int random_model_samples(const struct random_model *drawn, int tested,
			 struct dataset *dataset);

/* Prints the layers as a C table, and the other properties of the case. */
void random_model_print(FILE *out, const struct random_model *drawn);

/* Makes smaller from drawn in one of several ways, counted from 0. Returns 1; 0
 * if this way gives no valid network; -1 if there is no such way. */
int random_model_shrink(struct random_model *smaller,
			const struct random_model *drawn, int way);

#endif
