/* Two networks of PyTorch/XLA's tests on MNIST: the one with batch norm,
 * test/test_train_mnist.py at 888abc54, and the one of 2019. */
#include "models/model.h"

static const struct layer xla_layers[] = {
	{ .kind = LAYER_CONV, .name = "conv1", .outputs = 10, .window = 5 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_BATCHNORM, .name = "bn1" },
	{ .kind = LAYER_CONV, .name = "conv2", .outputs = 20, .window = 5 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_BATCHNORM, .name = "bn2" },
	{ .kind = LAYER_LINEAR, .name = "fc1", .outputs = 50 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "fc2", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

const struct model xla_mnist_model = {
	.name = "xla-mnist",
	.summary = "PyTorch/XLA's MNIST test: batch norm, SGD",
	.input = { 1, 28, 28 },
	.scale = { { 0.1307f }, { 0.3081f } },
	.layers = xla_layers,
	.layer_count = sizeof(xla_layers) / sizeof(xla_layers[0]),
	.recipe = { .batch = 128,
		    .epochs = 18,
		    .optimizer = OPTIMIZER_SGD,
		    .lr = 0.01,
		    .scale_lr = 1,
		    .momentum = 0.5 },
};

static const struct layer layers_2019[] = {
	{ .kind = LAYER_CONV, .name = "conv1", .outputs = 20, .window = 5 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_CONV, .name = "conv2", .outputs = 50, .window = 5 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_LINEAR, .name = "fc1", .outputs = 500 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "fc2", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

const struct model mnist_2019_model = {
	.name = "mnist-2019",
	.summary = "PyTorch's MNIST example of 2019: SGD with momentum",
	.input = { 1, 28, 28 },
	.scale = { { 0.1307f }, { 0.3081f } },
	.layers = layers_2019,
	.layer_count = sizeof(layers_2019) / sizeof(layers_2019[0]),
	.recipe = { .batch = 64,
		    .epochs = 10,
		    .optimizer = OPTIMIZER_SGD,
		    .lr = 0.01,
		    .momentum = 0.5 },
};
