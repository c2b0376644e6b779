/*
 * For tests: networks that are no chains, chains in a rare order, and networks
 * that a backend computes by special kernels.
 */
#ifndef TESTS_GRAPH_MODELS_H
#define TESTS_GRAPH_MODELS_H

#include "models/model.h"

/* The model NAME_model of the rows NAME_rows. */
#define GRAPH(name_, channels, height, width)                                \
	static const struct model name_##_model = {                          \
		.name = #name_,                                              \
		.input = { channels, height, width },                        \
		.layers = name_##_rows,                                      \
		.layer_count = sizeof(name_##_rows) / sizeof(name_##_rows[0]) \
	}

/* Every kind of row: strides, padding, windows that overlap, one value that
 * three rows read, and batch norm after and before an addition. */
static const struct layer every_kind_rows[] = {
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

GRAPH(every_kind, 2, 9, 11);

/* A basic block, one that halves its sides, and a bottleneck. Channels fill
 * vectors, or fill them with a remainder. */
static const struct layer residual_rows[] = {
	{ .kind = LAYER_CONV, .name = "conv1", .outputs = 16, .window = 7,
	  .stride = 2, .pad = 3, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "bn1" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2, .pad = 1 },

	{ .kind = LAYER_CONV, .name = "1.conv1", .outputs = 16, .window = 3,
	  .pad = 1, .no_bias = 1 },
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
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "2.conv2", .outputs = 20, .window = 3,
	  .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "2.bn2" },
	{ .kind = LAYER_CONV, .name = "2.downsample.0", .outputs = 20,
	  .window = 1, .stride = 2, .no_bias = 1, .from = 5 },
	{ .kind = LAYER_BATCHNORM, .name = "2.downsample.1" },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_RELU },

	{ .kind = LAYER_CONV, .name = "3.conv1", .outputs = 6, .window = 1,
	  .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "3.bn1" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "3.conv2", .outputs = 6, .window = 3,
	  .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "3.bn2" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "3.conv3", .outputs = 20, .window = 1,
	  .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "3.bn3" },
	{ .kind = LAYER_ADD, .with = 8 },
	{ .kind = LAYER_RELU },

	{ .kind = LAYER_AVGPOOL, .outputs = 1 },
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

GRAPH(residual, 3, 33, 30);

/* Poolings and an addition before anything is learnt, and values that several
 * rows of each kind read. Some readers keep another row from working in place,
 * in the first or in the second operand of an addition. */
static const struct layer early_rows[] = {
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2, .pad = 1 },
	{ .kind = LAYER_ADD },
	{ .kind = LAYER_DROPOUT, .drop = .25 },
	{ .kind = LAYER_RELU, .from = 1 },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_CONV, .name = "a", .outputs = 2, .window = 3,
	  .pad = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_ADD, .with = 6 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 2, .window = 1 },
	{ .kind = LAYER_RELU, .from = 1 },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_ADD },

	{ .kind = LAYER_MAXPOOL, .window = 2, .stride = 1 },
	{ .kind = LAYER_AVGPOOL, .outputs = 4, .from = 1 },
	{ .kind = LAYER_RELU, .from = 2 },
	{ .kind = LAYER_AVGPOOL, .outputs = 4 },
	{ .kind = LAYER_AVGPOOL, .outputs = 4, .from = 3 },
	{ .kind = LAYER_ADD, .with = 3 },
	{ .kind = LAYER_ADD, .from = 2 },
	{ .kind = LAYER_ADD, .with = 3 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 4 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 4, .from = 1 },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_LOSS },
};

GRAPH(early, 2, 13, 12);

/* Strided and padded convolutions in a row. Some padding is so wide that
 * windows see nothing else, and one stride leaves one pixel. */
static const struct layer convolved_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 5, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 7, .window = 5,
	  .stride = 3, .pad = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 3, .window = 2,
	  .pad = 1 },
	{ .kind = LAYER_CONV, .name = "e", .outputs = 20, .window = 1,
	  .pad = 1 },
	{ .kind = LAYER_CONV, .name = "f", .outputs = 4, .window = 3,
	  .stride = 2, .pad = 5 },
	{ .kind = LAYER_CONV, .name = "g", .outputs = 9, .window = 7,
	  .stride = 60000 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 6 },
	{ .kind = LAYER_LOSS },
};

GRAPH(convolved, 3, 20, 17);

/* Every kind of row adds to the gradient that others have left there. */
static const struct layer shared_rows[] = {
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

GRAPH(shared, 2, 8, 8);

/* Rows that read images and multiply nothing. */
static const struct layer pooled_rows[] = {
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

GRAPH(pooled, 2, 10, 10);

/* One pooling of the images. */
static const struct layer pooled_first_rows[] = {
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2 },
	{ .kind = LAYER_CONV, .name = "a", .outputs = 5, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2, .pad = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 4 },
	{ .kind = LAYER_LOSS },
};

GRAPH(pooled_first, 3, 15, 14);

/* Chains among single rows: a pooling first, two convolutions of one value, and
 * a chain whose output two rows read. Then a chain after a strided convolution,
 * and sums of a value with itself and with the images. */
static const struct layer mixed_rows[] = {
	{ .kind = LAYER_MAXPOOL, .window = 2, .stride = 1 },
	{ .kind = LAYER_CONV, .name = "a", .outputs = 2, .window = 1 },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 17, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 20, .window = 3,
	  .from = 2 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = .3 },
	{ .kind = LAYER_ADD, .with = 0 },
	{ .kind = LAYER_CONV, .name = "d", .outputs = 16, .window = 3,
	  .stride = 2, .from = 4 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "e", .outputs = 16, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT2D, .drop = .3 },
	{ .kind = LAYER_LINEAR, .name = "f", .outputs = 9 },
	{ .kind = LAYER_LINEAR, .name = "g", .outputs = 9, .from = 6 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_LOSS },
};

GRAPH(mixed, 2, 13, 12);

/* No pooling after the first two. */
static const struct layer deep_rows[] = {
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

GRAPH(deep, 3, 14, 15);

/* Four convolutions, of channels that fill tiles, below each other. */
static const struct layer tiled_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 16, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 16, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 32, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "d", .outputs = 16, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_CONV, .name = "e", .outputs = 3, .window = 2 },
	{ .kind = LAYER_LINEAR, .name = "f", .outputs = 4 },
	{ .kind = LAYER_LOSS },
};

GRAPH(tiled, 1, 26, 26);

/* Convolutions before and after the rows that a stem is made of. */
static const struct layer behind_rows[] = {
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

GRAPH(behind, 1, 16, 12);

/* Stems with all that may follow the second convolution. */
static const struct layer stem2d_rows[] = {
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

GRAPH(stem2d, 2, 12, 16);

static const struct layer stem_rows[] = {
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

GRAPH(stem, 1, 12, 12);

/* A stem's output is read twice, and so are the inputs of two linear layers.
 * Dropped planes are whole vectors. */
static const struct layer forked_rows[] = {
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

GRAPH(forked, 1, 20, 8);

/* mnist's stem, smaller, with other layers after it. */
static const struct layer wide_stem_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 16, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 32, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT2D, .drop = .25 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 20 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT, .drop = .5 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

GRAPH(wide_stem, 1, 14, 14);

static const struct layer bare_stem_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 16, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 32, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = .25 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

GRAPH(bare_stem, 1, 14, 14);

/* The last one leaves one place, and its gradients go back. */
static const struct layer two_convs_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 4, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 10, .window = 3 },
	{ .kind = LAYER_LOSS },
};

GRAPH(two_convs, 1, 5, 5);

/* Windows of 3x3 and 5x5 of many channels: padding, tiles that fit and tiles
 * that do not, and channels that fill neither vectors nor blocks. Two rows read
 * one plane, and some weights exceed a cache. */
static const struct layer windows_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 17, .window = 1 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 70, .window = 3,
	  .pad = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 33, .window = 3 },
	{ .kind = LAYER_CONV, .name = "d", .outputs = 33, .window = 3,
	  .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_CONV, .name = "e", .outputs = 20, .window = 5,
	  .pad = 4 },
	{ .kind = LAYER_CONV, .name = "e.again", .outputs = 32, .window = 5,
	  .pad = 2 },
	{ .kind = LAYER_CONV, .name = "e.bare", .outputs = 150, .window = 5 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "f", .outputs = 165, .window = 3 },
	{ .kind = LAYER_LINEAR, .name = "g", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

GRAPH(windows, 2, 5, 12);

/* The first models have kernels of their own on any device, the next one in the
 * cpu class. The others repeat them on devices; on a CPU they differ in how
 * sizes fill vectors, or in their stem. */
static const struct model *const graph_models[] = {
	&every_kind_model, &residual_model, &convolved_model, &shared_model,
	&mixed_model, &forked_model,

	&tiled_model,

	&early_model, &pooled_model, &pooled_first_model, &two_convs_model,
	&wide_stem_model, &bare_stem_model, &deep_model, &behind_model,
	&stem2d_model, &stem_model, &windows_model,
};

#define GRAPHS ((int)(sizeof(graph_models) / sizeof(graph_models[0])))
#define GRAPHS_OF_DEVICES 6
#define GRAPHS_OF_CPU_DEVICES 7

#endif
