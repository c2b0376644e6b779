/* For tests: networks that are no chains, or odd ones. */
#ifndef TESTS_GRAPHS_H
#define TESTS_GRAPHS_H

#include "models/model.h"

#define LAYERS(rows) .layers = rows, .layer_count = sizeof(rows) / \
						    sizeof((rows)[0])

/* Every kind of row: strides, padding, windows that overlap, one value that
 * three rows read, and batch norm behind and before an addition. */
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

static const struct model every_kind_model = {
	.name = "every-kind",
	.input = { 2, 9, 11 },
	LAYERS(every_kind_rows),
};

/* A basic block as it is, one that halves its sides, and a bottleneck. */
static const struct layer residual_rows[] = {
	{ .kind = LAYER_CONV, .name = "conv1", .outputs = 6, .window = 7,
	  .stride = 2, .pad = 3, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "bn1" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2, .pad = 1 },

	{ .kind = LAYER_CONV, .name = "1.conv1", .outputs = 6, .window = 3,
	  .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "1.bn1" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "1.conv2", .outputs = 6, .window = 3,
	  .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "1.bn2" },
	{ .kind = LAYER_ADD, .with = 5 },
	{ .kind = LAYER_RELU },

	{ .kind = LAYER_CONV, .name = "2.conv1", .outputs = 8, .window = 3,
	  .stride = 2, .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "2.bn1" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "2.conv2", .outputs = 8, .window = 3,
	  .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "2.bn2" },
	{ .kind = LAYER_CONV, .name = "2.downsample.0", .outputs = 8,
	  .window = 1, .stride = 2, .no_bias = 1, .from = 5 },
	{ .kind = LAYER_BATCHNORM, .name = "2.downsample.1" },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_RELU },

	{ .kind = LAYER_CONV, .name = "3.conv1", .outputs = 3, .window = 1,
	  .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "3.bn1" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "3.conv2", .outputs = 3, .window = 3,
	  .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "3.bn2" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "3.conv3", .outputs = 8, .window = 1,
	  .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "3.bn3" },
	{ .kind = LAYER_ADD, .with = 8 },
	{ .kind = LAYER_RELU },

	{ .kind = LAYER_AVGPOOL, .outputs = 1 },
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct model residual_model = {
	.name = "residual",
	.input = { 3, 33, 30 },
	LAYERS(residual_rows),
};

/* Poolings and an addition before anything is learnt, and values that several
 * rows of each kind read, some of them where another could else work in place,
 * be it of the first or of the second one that is added. */
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

static const struct model early_model = {
	.name = "early",
	.input = { 2, 13, 12 },
	LAYERS(early_rows),
};

static const struct layer convolved_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 5, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 7, .window = 5,
	  .stride = 3, .pad = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 3, .window = 2,
	  .pad = 1 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 6 },
	{ .kind = LAYER_LOSS },
};

static const struct model convolved_model = {
	.name = "convolved",
	.input = { 3, 20, 17 },
	LAYERS(convolved_rows),
};

#endif
