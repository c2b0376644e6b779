/* For tests: models that are graphs, or chains in an order that few have. */
#ifndef TESTS_GRAPH_MODELS_H
#define TESTS_GRAPH_MODELS_H

#include "models/model.h"

/* Every kind of row: strides, padding, windows that overlap, one value that
 * three rows read, and batch norm behind and before an addition. */
static const struct layer rows[] = {
	{ .kind = LAYER_CONV, .name = "stem", .outputs = 4, .window = 3,
	  .stride = 2, .pad = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 1, .pad = 1 },
	{ .kind = LAYER_CONV, .name = "a", .outputs = 6, .window = 3,
	  .stride = 2, .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "a.norm" },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 6, .window = 1,
	  .stride = 2, .from = 2, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "b.norm" },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_BATCHNORM, .name = "c.norm" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_DROPOUT2D, .drop = .25 },
	{ .kind = LAYER_AVGPOOL, .outputs = 2 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 7 },
	{ .kind = LAYER_BATCHNORM, .name = "d.norm" },
	{ .kind = LAYER_DROPOUT, .drop = .5 },
	{ .kind = LAYER_LINEAR, .name = "e", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

/* Convolutions before and behind the rows that a stem is made of. */
static const struct layer behind_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 5, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 7, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT2D, .drop = .4 },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 6, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

/* No pooling behind the first two. */
static const struct layer deep_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 18, .window = 3,
	  .pad = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 20, .window = 5 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2 },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 33, .window = 3 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 4 },
	{ .kind = LAYER_DROPOUT, .drop = .3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "e", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

/* Rows that read images and multiply nothing. */
static const struct layer pooled_layers[] = {
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "a", .outputs = 4, .window = 2 },
	{ .kind = LAYER_AVGPOOL, .outputs = 4, .from = 3 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 4, .window = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "n", .from = 5 },
	{ .kind = LAYER_AVGPOOL, .outputs = 4 },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 4, .window = 1 },
	{ .kind = LAYER_ADD, .with = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2, .from = 6 },
	{ .kind = LAYER_AVGPOOL, .outputs = 4 },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_LOSS },
};

/* Stems with all that may follow the second convolution. */
static const struct layer stem2d_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 5, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 9, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT2D, .drop = .4 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 7 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct layer stem_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 5, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 9, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = .4 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 7 },
	{ .kind = LAYER_DROPOUT, .drop = .4 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

/* What a stem puts out is read twice, and so are the inputs of two linear
 * layers. */
static const struct layer forked_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 3, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 6, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT2D, .drop = .4 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 7 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 7, .from = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_LINEAR, .name = "e", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

/* Every kind of row adds to the gradient that others have left there. */
static const struct layer shared_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 5, .window = 3 },
	{ .kind = LAYER_AVGPOOL, .outputs = 6 },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 1, .pad = 1,
	  .from = 1 },
	{ .kind = LAYER_RELU, .from = 2 },
	{ .kind = LAYER_DROPOUT, .drop = .3, .from = 3 },
	{ .kind = LAYER_DROPOUT2D, .drop = .3, .from = 4 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 5, .window = 1,
	  .from = 5 },
	{ .kind = LAYER_BATCHNORM, .name = "n", .from = 6 },
	{ .kind = LAYER_ADD, .with = 7 },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_ADD, .with = 4 },
	{ .kind = LAYER_ADD, .with = 6 },
	{ .kind = LAYER_ADD, .with = 8 },
	{ .kind = LAYER_ADD, .with = 10 },
	{ .kind = LAYER_ADD, .with = 12 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

/* Two blocks of a residual network: a bottleneck, and one that halves. */
static const struct layer residual_layers[] = {
	{ .kind = LAYER_CONV, .name = "conv1", .outputs = 16, .window = 7,
	  .stride = 2, .pad = 3, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "bn1" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2, .pad = 1 },
	{ .kind = LAYER_CONV, .name = "1.conv1", .outputs = 8, .window = 1,
	  .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "1.bn1" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "1.conv2", .outputs = 16, .window = 3,
	  .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "1.bn2" },
	{ .kind = LAYER_ADD, .with = 5 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "2.conv1", .outputs = 20, .window = 3,
	  .stride = 2, .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "2.bn1" },
	{ .kind = LAYER_CONV, .name = "2.down", .outputs = 20, .window = 1,
	  .stride = 2, .no_bias = 1, .from = 2 },
	{ .kind = LAYER_BATCHNORM, .name = "2.bn2" },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_AVGPOOL, .outputs = 1 },
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

#define GRAPH(name_, channels, height, width, layers_)                     \
	{ .name = name_, .input = { channels, height, width },             \
	  .layers = layers_,                                               \
	  .layer_count = sizeof(layers_) / sizeof(layers_[0]) }

static const struct model graph_models[] = {
	GRAPH("rows", 2, 9, 11, rows),
	GRAPH("behind", 1, 16, 12, behind_layers),
	GRAPH("deep", 3, 14, 15, deep_layers),
	GRAPH("pooled", 2, 10, 10, pooled_layers),
	GRAPH("stem2d", 2, 12, 16, stem2d_layers),
	GRAPH("stem", 1, 12, 12, stem_layers),
	GRAPH("forked", 1, 12, 8, forked_layers),
	GRAPH("shared", 2, 8, 8, shared_layers),
	GRAPH("residual", 3, 33, 30, residual_layers),
};

#define GRAPHS ((int)(sizeof(graph_models) / sizeof(graph_models[0])))

#endif
