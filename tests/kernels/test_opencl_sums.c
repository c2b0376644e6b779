/*
 * Where sums of the OpenCL backend are split, and models that fill more than
 * one tile of the gpu class, against the reference.
 */
#include "tests/kernels/opencl_pair.h"

/* A first convolution of more channels than a tile has rows, without a ReLU;
 * the second one reads it alone, and nothing is pooled. */
static const struct layer lead_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 70, .window = 1 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 66, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT, .drop = 0.2 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 3 },
	{ .kind = LAYER_LOSS },
};

static const struct model lead_model = {
	.name = "lead",
	.input = { 3, 6, 5 },
	.layers = lead_layers,
	.layer_count = sizeof(lead_layers) / sizeof(lead_layers[0]),
};

/* A pooling window of more places than a tile has columns, and linear layers
 * of more inputs and outputs than it has columns and rows. */
static const struct layer wide_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 35, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 12 },
	{ .kind = LAYER_DROPOUT, .drop = 0.1 },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 300 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 140 },
	{ .kind = LAYER_DROPOUT, .drop = 0.5 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 70 },
	{ .kind = LAYER_LOSS },
};

static const struct model wide_model = {
	.name = "wide",
	.input = { 1, 26, 27 },
	.layers = wide_layers,
	.layer_count = sizeof(wide_layers) / sizeof(wide_layers[0]),
};

static void evaluate_once(struct device *on, const struct model *model,
			  const struct program_options *options,
			  const float *parameters, const struct batch *batch,
			  struct score *score)
{
	struct program *program;

	check(program_compile(on, model, options, &program, &err));
	check(program_store(program, VECTOR_PARAMETERS, parameters, &err));
	*score = (struct score){ 0 };
	check(program_evaluate(program, batch, score, &err));
	program_free(program);
}

/* Sums have enough factors, forward and backward, for the gpu class to split
 * them. The row before b gets its gradient twice. */
static const struct layer deep_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 57, .window = 3,
	  .pad = 1 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 57, .window = 3,
	  .pad = 1 },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 3 },
	{ .kind = LAYER_LOSS },
};

static const struct model deep_model = {
	.name = "deep",
	.input = { 3, 4, 5 },
	.layers = deep_layers,
	.layer_count = sizeof(deep_layers) / sizeof(deep_layers[0]),
};

static void models_beyond_a_tile_are_right(void **state)
{
	(void)state;
	model_is_right(&lead_model);
	model_is_right(&wide_model);
	model_is_right(&deep_model);
}

/* A batch fills a GPU with tiles, the single sample of a test does not: its
 * sums have parts, for which there must be room. */
static void a_test_has_room_for_parts(void **state)
{
	static const struct layer layers[] = {
		{ .kind = LAYER_CONV, .name = "a", .outputs = 1024,
		  .window = 1, .stride = 2 },
		{ .kind = LAYER_LOSS },
	};
	const struct model model = { .name = "broad", .input = { 2048, 2, 2 },
				     .layers = layers, .layer_count = 2 };
	const struct program_options options = { .batch = 2048,
						 .test_batch = 1 };
	enum { SIZE = 2048 * 2 * 2 };
	float *images = allocate(SIZE * sizeof(float));
	const uint16_t labels[] = { 5 };
	const struct batch batch = { .images = images, .labels = labels,
				     .count = 1, .global_count = 1,
				     .stride = 1 };
	struct score found, expected;
	uint32_t seed = 3;
	float *parameters;

	(void)state;
	for (int i = 0; i < SIZE; i++)
		images[i] = random_float(&seed);
	parameters = allocate(model_parameter_count(&model) * sizeof(float));
	model_init(&model, 1, parameters);
	evaluate_once(device, &model, &options, parameters, &batch, &found);
	evaluate_once(reference_device, &model, &options, parameters, &batch,
		      &expected);
	assert_true(fabs(found.loss - expected.loss) < 1e-5 * expected.loss);
	free(images);
	free(parameters);
}

/* More samples than there are parts of their sum, against piece by piece. */
static void long_batches_are_split(void **state)
{
	enum { COUNT = 131, PIECE = 50 };
	const struct model *model = model_find("tiny");
	const size_t size = shape_size(model->input);
	const struct program_options options = { .batch = COUNT,
						 .test_batch = 1 };
	struct batch batch = { .global_count = COUNT, .stride = 1 };
	float *images = allocate(COUNT * size * sizeof(float));
	float *whole, *piece, *sum, largest = 0;
	uint16_t labels[COUNT];
	struct program *program;
	uint32_t seed = 3;
	size_t count;

	(void)state;
	check(program_compile(device, model, &options, &program, &err));
	count = program->parameters;
	whole = allocate(count * sizeof(float));
	piece = allocate(count * sizeof(float));
	sum = allocate(count * sizeof(float));
	model_init(model, 1, whole);
	check(program_store(program, VECTOR_PARAMETERS, whole, &err));
	for (size_t i = 0; i < COUNT * size; i++)
		images[i] = random_float(&seed);
	for (int i = 0; i < COUNT; i++)
		labels[i] = (uint16_t)(i % 9);
	for (int at = 0; at < COUNT; at += PIECE) {
		batch.images = images + (size_t)at * size;
		batch.labels = labels + at;
		batch.count = COUNT - at < PIECE ? COUNT - at : PIECE;
		check(program_gradient(program, &batch, &err));
		check(program_load(program, VECTOR_GRADIENT, piece, &err));
		for (size_t i = 0; i < count; i++)
			sum[i] += piece[i];
	}
	batch.images = images;
	batch.labels = labels;
	batch.count = COUNT;
	check(program_gradient(program, &batch, &err));
	check(program_load(program, VECTOR_GRADIENT, whole, &err));
	for (size_t i = 0; i < count; i++) {
		assert_true(fabsf(whole[i] - sum[i]) < 1e-6f);
		largest = fmaxf(largest, fabsf(whole[i]));
	}
	assert_true(largest > 1e-3f);
	program_free(program);
	free(images);
	free(whole);
	free(piece);
	free(sum);
}

/* A step in one call leaves the vectors that gradient and update leave, on an
 * empty batch as well. */
static void training_is_gradient_and_update(void **state)
{
	static const int counts[] = { 3, 0, BATCH };
	const struct update update = { .lr = 0.7, .rho = 0.9, .eps = 1e-6 };
	struct pair once, twice;

	(void)state;
	pair_open(&once, &lead_model, 1);
	pair_open(&twice, &lead_model, 1);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		once.batch.count = twice.batch.count = counts[i];
		check(program_train(once.program, &once.batch, &update, &err));
		check(program_gradient(twice.program, &twice.batch, &err));
		check(program_update(twice.program, &update, &err));
	}
	for (int v = 0; v < VECTOR_COUNT; v++) {
		if (v == VECTOR_GRADIENT)
			continue;
		check(program_load(once.program, v, once.found, &err));
		check(program_load(twice.program, v, once.expected, &err));
		expect_near(&once, once.found, once.expected);
	}
	pair_close(&once);
	pair_close(&twice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_beyond_a_tile_are_right),
		cmocka_unit_test(a_test_has_room_for_parts),
		cmocka_unit_test(long_batches_are_split),
		cmocka_unit_test(training_is_gradient_and_update),
	};

	const size_t count = sizeof(tests) / sizeof(tests[0]);

	return run_class("cpu", ALGORITHM_FAST, tests, count) +
	       run_class("gpu", ALGORITHM_FAST, tests, count);
}
