/* The two networks of the MNIST comparison. They differ in the layers after the
 * second convolution and in their settings. */
#include "models/model.h"

/* The network of the post: no ReLU after conv2, whole planes dropped. */
static const struct layer mnist_layers[] = {
	{ .kind = LAYER_CONV, .name = "conv1", .outputs = 32, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "conv2", .outputs = 64, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT2D, .drop = 0.25 },
	{ .kind = LAYER_LINEAR, .name = "fc1", .outputs = 128 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT, .drop = 0.5 },
	{ .kind = LAYER_LINEAR, .name = "fc2", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

const struct model mnist_model = {
	.name = "mnist",
	.summary = "the post's network: Dropout2d, no ReLU after conv2",
	.input = { 1, 28, 28 },
	.scale = { { 0.1307f }, { 0.3081f } },
	.layers = mnist_layers,
	.layer_count = sizeof(mnist_layers) / sizeof(mnist_layers[0]),
	.recipe = { .batch = 128,
		    .epochs = 10,
		    .lr = 1,
		    .rho = 0.9,
		    .eps = 1e-6,
		    .lr_step = 1,
		    .lr_gamma = 0.7 },
};

/* The network of today's pytorch/examples. */
static const struct layer example_layers[] = {
	{ .kind = LAYER_CONV, .name = "conv1", .outputs = 32, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "conv2", .outputs = 64, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = 0.25 },
	{ .kind = LAYER_LINEAR, .name = "fc1", .outputs = 128 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT, .drop = 0.5 },
	{ .kind = LAYER_LINEAR, .name = "fc2", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

const struct model mnist_example_model = {
	.name = "mnist-example",
	.summary = "today's PyTorch example: ReLU after conv2, Dropout",
	.input = { 1, 28, 28 },
	.scale = { { 0.1307f }, { 0.3081f } },
	.layers = example_layers,
	.layer_count = sizeof(example_layers) / sizeof(example_layers[0]),
	.recipe = { .batch = 64,
		    .epochs = 14,
		    .lr = 1,
		    .rho = 0.9,
		    .eps = 1e-6,
		    .lr_step = 1,
		    .lr_gamma = 0.7 },
};
