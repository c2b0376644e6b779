/*
 * Labels that are equal in their low byte, in every build of the backends that
 * compute, against the reference.
 */
#include "tests/kernels/lockstep.h"

#define BATCH_COUNT 7

static const struct layer thousand_layers[] = {
	{ .kind = LAYER_CONV, .name = "conv", .outputs = 4, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 1000 },
	{ .kind = LAYER_LOSS },
};

/* No linear layer is next to the loss. */
static const struct layer conv_layers[] = {
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 8 },
	{ .kind = LAYER_CONV, .name = "conv", .outputs = 1000, .window = 1 },
	{ .kind = LAYER_LOSS },
};

static const struct layer most_layers[] = {
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = MODEL_MAX_CLASSES },
	{ .kind = LAYER_LOSS },
};

#define MODEL(name_, side, layers_)                                         \
	{ .name = name_, .input = { 1, side, side }, .layers = layers_,     \
	  .layer_count = sizeof(layers_) / sizeof(layers_[0]) }

static const struct model models[] = {
	MODEL("thousand", 12, thousand_layers),
	MODEL("conv", 5, conv_layers),
	MODEL("most", 2, most_layers),
};

#define MODELS (sizeof(models) / sizeof(models[0]))

/* The largest label of all, and others that are all above 255. */
static struct batch wide_batch(const struct model *model)
{
	const int classes = model_classes(model);
	struct batch batch = batch_make(model, 9, BATCH_COUNT);
	uint16_t *labels = (uint16_t *)batch.labels;

	for (int i = 0; i < batch.count; i++)
		labels[i] = (uint16_t)(classes - 1 - 97 * i);
	return batch;
}

/* Two steps, so that the second one depends on what the first has learnt. */
static void compare_model(const struct variant *variant,
			  const struct model *model)
{
	struct batch batch = wide_batch(model);
	struct score tried = { 0 }, right = { 0 };
	struct pair pair;

	pair_open(&pair, variant, model, BATCH_COUNT, 0);
	compare_step(&pair, &batch, 1);
	batch.step = 1;
	compare_step(&pair, &batch, 1);
	start_alike(&pair);
	compare_evaluation(&pair, &batch, &tried, &right);
	pair_close(&pair);
	batch_free(&batch);
}

static void classes_are_told_apart(void **state)
{
	for (size_t m = 0; m < MODELS; m++) {
		print_message("%s\n", models[m].name);
		compare_model(*state, &models[m]);
	}
}

int main(void)
{
	static const struct check checks[] = {
		{ "classes", classes_are_told_apart, 0 },
	};

	return run_variants("labels", checks,
			    sizeof(checks) / sizeof(checks[0]));
}
