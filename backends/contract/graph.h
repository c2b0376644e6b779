/*
 * A model as whoever computes it wants it: each row with its sources, shapes
 * and places in the flat vectors, looked up once.
 */
#ifndef BACKENDS_CONTRACT_GRAPH_H
#define BACKENDS_CONTRACT_GRAPH_H

#include "models/model.h"

struct node {
	const struct layer *layer;
	int source, other;   /* rows, or MODEL_IMAGES; other is an addition's */
	struct shape in, out;
	size_t weight, bias; /* offsets of parameters, if there are */
	int has_bias;
	size_t buffers;      /* offset of the mean; the variance is behind it */
	size_t decisions;    /* of a sample, see layer_decisions() */
	int readers; /* of the output; an addition to itself is two */
	/* Whether the loss's gradient by that input is wanted: parameters are
	 * above it. */
	int wants_dx, wants_other_dx;
	/* Whether a row further down has left a gradient there already, to
	 * which this one is added, once rows go backward one after the other;
	 * an addition treats source before other. */
	int adds_dx, adds_other_dx;
	int broken;          /* see backend_layer_is_broken() */
};

struct graph {
	const struct model *model;
	int count; /* of nodes, one a row; the last is the loss */
	struct node nodes[MODEL_MAX_LAYERS];
};

/* Of a model that model_check() has passed. */
void graph_resolve(struct graph *graph, const struct model *model);

/* One line a row: its kind, source, shapes in and out. */
void graph_explain(const struct graph *graph, char *text, size_t size);

#endif
