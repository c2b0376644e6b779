/* The distributed example of apex, which post 001 runs: one linear layer, for
 * which each rank learns one fixed batch of its own. */
#include "models/model.h"

static const struct layer toy_layers[] = {
	{ .kind = LAYER_LINEAR, .name = "linear", .outputs = 16 },
	{ .kind = LAYER_LOSS, .loss = LOSS_MSE },
};

const struct model ddp_toy_model = {
	.name = "ddp-toy",
	.summary = "post 001: one linear layer, each rank its own batch",
	.input = { 1024, 1, 1 },
	.dataset = "fake",
	.layers = toy_layers,
	.layer_count = sizeof(toy_layers) / sizeof(toy_layers[0]),
	.recipe = { .batch = 64,
		    .no_test = 1,
		    .steps = 100000,
		    .epochs = 1,
		    .optimizer = OPTIMIZER_SGD,
		    .lr = 1e-3 },
};
