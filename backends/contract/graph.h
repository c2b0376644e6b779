/* A model prepared for computation: each row with its sources, shapes and
 * offsets in the flat vectors. */
#ifndef BACKENDS_CONTRACT_GRAPH_H
#define BACKENDS_CONTRACT_GRAPH_H

#include "models/model.h"

struct node {
	const struct layer *layer;
	int source, other;   /* rows, or MODEL_IMAGES; other is an addition's */
	struct shape in, out;
	size_t weight, bias; /* offsets of the parameters, if any */
	int has_bias;
	size_t buffers;      /* offset of the mean; the variance follows */
	size_t decisions;    /* per sample, see layer_decisions() */
	int readers; /* of the output; an addition to itself counts twice */
	/* 1 = the gradient of that input is needed, since it depends on
	 * parameters. */
	int needs_dx, needs_other_dx;
	/*
	 * 1 = a row further down has already stored that gradient, so that this
	 * row adds to it. Rows go backward one after the other; an addition
	 * treats source before other.
	 */
	int adds_dx, adds_other_dx;
	int broken;          /* see backend_layer_is_broken() */
};

struct graph {
	const struct model *model;
	int count; /* of nodes, one per row; the last is the loss */
	struct node nodes[MODEL_MAX_LAYERS];
};

/* Fills the graph of a model that model_check() has accepted. */
void graph_resolve(struct graph *graph, const struct model *model);

/* Writes one line per row: its kind, source, and shapes in and out. */
void graph_explain(const struct graph *graph, char *text, size_t size);

#endif
