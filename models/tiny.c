/* A tiny network with the kinds of layers of mnist, odd sizes included, on
 * mnist's images: for tests, sanitizers and quick trials. */
#include "models/model.h"

static const struct layer tiny_layers[] = {
	{ .kind = LAYER_CONV, .name = "conv1", .outputs = 3, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_CONV, .name = "conv2", .outputs = 5, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 }, /* 11 -> 5: one row remains */
	{ .kind = LAYER_DROPOUT2D, .drop = 0.25 },
	{ .kind = LAYER_LINEAR, .name = "fc1", .outputs = 17 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT, .drop = 0.5 },
	{ .kind = LAYER_LINEAR, .name = "fc2", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

const struct model tiny_model = {
	.name = "tiny",
	.summary = "every kind of layer, 2,492 parameters: for tests",
	.input = { 1, 28, 28 },
	.scale = { { 0.1307f }, { 0.3081f } },
	.layers = tiny_layers,
	.layer_count = sizeof(tiny_layers) / sizeof(tiny_layers[0]),
	.recipe = { .batch = 32,
		    .epochs = 3,
		    .lr = 1,
		    .rho = 0.9,
		    .eps = 1e-6,
		    .lr_step = 1,
		    .lr_gamma = 0.7 },
};
