/* Small models that reach every kernel of the OpenCL backend, by classes. */
#ifndef TESTS_KERNEL_MODELS_H
#define TESTS_KERNEL_MODELS_H

#include "models/model.h"

/* By tiles if vectors have 4 floats, as oclgrind's have; two tiles, below each
 * other, after a first convolution. */
static const struct layer tiles_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 8, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 8, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT2D, .drop = 0.4 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

/* One tile, after a convolution whose sums have no border: its window is 1. */
static const struct layer pooled_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 8, .window = 1 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = 0.3 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 4, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = 0.3 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 7 },
	{ .kind = LAYER_DROPOUT, .drop = 0.3 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

/* Without tiles, and the loss in a kernel of its own. */
static const struct layer odd_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 5, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 3, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT2D, .drop = 0.4 },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 3, .window = 3 },
	{ .kind = LAYER_LOSS },
};

/* For work-groups of many items, which fill their tiles whatever is in them: a
 * convolution that leads, and two linear layers at once. */
static const struct layer led_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 2, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 3, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT2D, .drop = 0.4 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 7 },
	{ .kind = LAYER_DROPOUT, .drop = 0.3 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

/* None that leads, and the loss in a kernel of its own. */
static const struct layer stored_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 2, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = 0.3 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 3, .window = 3 },
	{ .kind = LAYER_LOSS },
};

/* A linear layer that the loss goes with, and nothing before it. */
static const struct layer single_layers[] = {
	{ .kind = LAYER_LINEAR, .name = "a", .outputs = 3 },
	{ .kind = LAYER_LOSS },
};

/* Targets are vectors. */
static const struct layer vectors_layers[] = {
	{ .kind = LAYER_LINEAR, .name = "a", .outputs = 3 },
	{ .kind = LAYER_LOSS, .loss = LOSS_BCE },
};

/* More inputs than a linear layer sums up at once, and no whole vectors. */
static const struct layer long_layers[] = {
	{ .kind = LAYER_LINEAR, .name = "a", .outputs = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 2 },
	{ .kind = LAYER_LOSS },
};

/* Each of their rows but the last two alone; bare: whether a has no bias. */
#define ALONE_ROWS(channels, bare)                                            \
	{ .kind = LAYER_CONV, .name = "a", .outputs = (channels),             \
	  .window = 3, .stride = 2, .pad = 1, .no_bias = (bare) },            \
	{ .kind = LAYER_BATCHNORM, .name = "a.norm" },                        \
	{ .kind = LAYER_RELU },                                               \
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 1, .pad = 1 },        \
	{ .kind = LAYER_CONV, .name = "b", .outputs = (channels),             \
	  .window = 3, .pad = 1 },                                            \
	{ .kind = LAYER_BATCHNORM, .name = "b.norm" },                        \
	{ .kind = LAYER_DROPOUT, .drop = 0.3 },                               \
	{ .kind = LAYER_ADD, .with = 3 },                                     \
	{ .kind = LAYER_AVGPOOL, .outputs = 2 },                              \
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 2 },                  \
	{ .kind = LAYER_LOSS }

/* b by tiles, where vectors have 4 floats. */
static const struct layer alone_layers[] = { ALONE_ROWS(4, 1) };

/* Fewer channels: each is a work-group of many items. In a, sums of products
 * and of the bias have two parts, if a part has 16 factors. */
static const struct layer alone_groups_layers[] = { ALONE_ROWS(2, 0) };

/* Strided, and folded for tiles of seven points if vectors have 4 floats. */
static const struct layer folded_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 4, .window = 5,
	  .stride = 2, .pad = 2 },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 2 },
	{ .kind = LAYER_LOSS },
};

#define LAYERS(layers_)                                                      \
	.layers = layers_,                                                   \
	.layer_count = sizeof(layers_) / sizeof(layers_[0])

static const struct model cpu_models[] = {
	{ .name = "tiles", .input = { 1, 11, 7 }, LAYERS(tiles_layers) },
	{ .name = "pooled", .input = { 2, 12, 12 }, LAYERS(pooled_layers) },
	{ .name = "odd", .input = { 2, 6, 6 }, LAYERS(odd_layers) },
	{ .name = "long", .input = { 1, 39, 31 }, LAYERS(long_layers) },
	{ .name = "alone", .input = { 2, 7, 9 }, LAYERS(alone_layers) },
	{ .name = "folded", .input = { 2, 7, 9 }, LAYERS(folded_layers) },
	{ .name = "vectors", .input = { 1, 3, 3 }, LAYERS(vectors_layers),
	  .recipe = { .optimizer = OPTIMIZER_ADAM } },
	{ .name = "sgd", .input = { 1, 3, 3 }, LAYERS(single_layers),
	  .recipe = { .optimizer = OPTIMIZER_SGD, .momentum = .5 } },
};

/* Each product has two tiles of columns, or two parts of its sums. */
static const struct model gpu_models[] = {
	{ .name = "led", .input = { 1, 13, 7 }, LAYERS(led_layers) },
	{ .name = "stored", .input = { 1, 11, 9 }, LAYERS(stored_layers) },
	{ .name = "single", .input = { 1, 29, 5 }, LAYERS(single_layers) },
	{ .name = "alone", .input = { 4, 5, 5 }, LAYERS(alone_groups_layers) },
};

#endif
