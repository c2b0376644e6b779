/*
 * AlexNet as in torchvision (Krizhevsky 2014, arXiv 1404.5997), with ten
 * classes, for post 000. Its poolings overlap. An adaptive pooling before the
 * linear layers allows images of other sizes.
 */
#include "models/model.h"

static const struct layer alexnet_layers[] = {
	{ .kind = LAYER_CONV, .name = "features.0", .outputs = 64,
	  .window = 11, .stride = 4, .pad = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2 },
	{ .kind = LAYER_CONV, .name = "features.3", .outputs = 192,
	  .window = 5, .pad = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2 },
	{ .kind = LAYER_CONV, .name = "features.6", .outputs = 384,
	  .window = 3, .pad = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "features.8", .outputs = 256,
	  .window = 3, .pad = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "features.10", .outputs = 256,
	  .window = 3, .pad = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2 },
	{ .kind = LAYER_AVGPOOL, .outputs = 6 },
	{ .kind = LAYER_DROPOUT, .drop = 0.5 },
	{ .kind = LAYER_LINEAR, .name = "classifier.1", .outputs = 4096 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT, .drop = 0.5 },
	{ .kind = LAYER_LINEAR, .name = "classifier.4", .outputs = 4096 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "classifier.6", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

const struct model alexnet_model = {
	.name = "alexnet",
	.summary = "post 000: AlexNet at 224x224, ten classes, Adam",
	.input = { 3, 224, 224 },
	.scale = { { 0.485f, 0.456f, 0.406f }, { 0.229f, 0.224f, 0.225f } },
	.dataset = "fashion-mnist",
	.layers = alexnet_layers,
	.layer_count = sizeof(alexnet_layers) / sizeof(alexnet_layers[0]),
	.recipe = { .batch = 8,
		    .batch_of_several = 32,
		    .test_batch = 8,
		    .drop_last_of_several = 1,
		    .epochs = 1,
		    .optimizer = OPTIMIZER_ADAM,
		    .lr = 1e-3,
		    .eps = 1e-8,
		    .beta1 = 0.9,
		    .beta2 = 0.999 },
};
