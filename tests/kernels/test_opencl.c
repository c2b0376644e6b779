/* The OpenCL backend against the reference, on models that reach all of it. */
#include "tests/kernels/opencl_pair.h"

/* Nothing pooled at first, several channels in, more than 16 out, taps too many
 * for the registers of all outputs, and linear outputs that are more than one
 * panel (linear_dense.cl). */
static const struct layer planes_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 18, .window = 5 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT, .drop = 0.3 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 33, .window = 3 },
	{ .kind = LAYER_DROPOUT2D, .drop = 0.4 },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 5, .window = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 3 }, /* 8 x 7 -> 2 x 2 */
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 133 },
	{ .kind = LAYER_DROPOUT, .drop = 0.5 },
	{ .kind = LAYER_LINEAR, .name = "e", .outputs = 21 },
	{ .kind = LAYER_LOSS },
};

static const struct model planes_model = {
	.name = "planes",
	.input = { 3, 11, 10 },
	.layers = planes_layers,
	.layer_count = sizeof(planes_layers) / sizeof(planes_layers[0]),
};

/* A linear layer first, of a length that is no whole number of vectors. */
static const struct layer flat_layers[] = {
	{ .kind = LAYER_LINEAR, .name = "a", .outputs = 19 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 4 },
	{ .kind = LAYER_LOSS },
};

static const struct model flat_model = {
	.name = "flat",
	.input = { 1, 7, 5 },
	.layers = flat_layers,
	.layer_count = sizeof(flat_layers) / sizeof(flat_layers[0]),
};

/* Pooling first, then convolution straight into linear and into the loss. */
static const struct layer bare_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 3, .window = 2 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = 0.25 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 17, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT2D, .drop = 0.25 },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 2, .window = 2 },
	{ .kind = LAYER_LOSS },
};

static const struct model bare_model = {
	.name = "bare",
	.input = { 2, 12, 10 },
	.layers = bare_layers,
	.layer_count = sizeof(bare_layers) / sizeof(bare_layers[0]),
};

/* Kernels are compiled for each, which takes most of the time: so what is not
 * dense of mnist, and other networks, are left to test_backends.c and
 * test_golden.c. */
static void models_are_right(void **state)
{
	(void)state;
	model_is_right(model_find("tiny"));
	if (algorithm == ALGORITHM_DENSE)
		model_is_right(model_find("mnist"));
}

static void odd_models_are_right(void **state)
{
	(void)state;
	model_is_right(&planes_model);
	if (algorithm == ALGORITHM_DENSE)
		model_is_right(&flat_model);
	model_is_right(&bare_model);
}

/* What a gradient decided is still known after all that may follow it. */
static void decisions_outlive_an_update(void **state)
{
	const struct update update = { .lr = 1, .rho = 0.9, .eps = 1e-6 };
	struct score score = { 0 };
	struct batch other;
	struct pair pair;

	(void)state;
	pair_open(&pair, model_find("tiny"), 1);
	other = pair.batch;
	check(program_gradient(pair.program, &pair.batch, &err));
	check(program_update(pair.program, &update, &err));
	other.images = pair.images + shape_size(pair.model->input);
	check(program_evaluate(pair.program, &other, &score, &err));
	check(program_finish(pair.program, &score, &err));
	follow(&pair);
	check(program_gradient(pair.reference, &pair.batch, &err));
	expect_regrets(&pair);
	pair_close(&pair);
}

/* More than the device has at a time, against piece by piece. */
static void long_tests_are_sliced(void **state)
{
	enum { COUNT = 555, PIECE = 5 };
	const struct model *model = model_find("tiny");
	const size_t size = shape_size(model->input);
	/* Of the kernels of other cases. */
	const struct program_options options = { .batch = BATCH,
						 .test_batch = COUNT,
						 .seed = SEED,
						 .dropout = 1,
						 .algorithm = algorithm };
	struct batch batch = { .count = COUNT, .stride = 1 };
	struct score whole = { 0 }, pieces = { 0 };
	float *images = allocate(COUNT * size * sizeof(float));
	uint16_t labels[COUNT];
	struct program *program;
	uint32_t seed = 3;

	(void)state;
	check(program_compile(device, model, &options, &program, &err));
	model_init(model, 1, images);
	check(program_store(program, VECTOR_PARAMETERS, images, &err));
	for (size_t i = 0; i < COUNT * size; i++)
		images[i] = random_float(&seed);
	for (int i = 0; i < COUNT; i++)
		labels[i] = (uint16_t)(i % 9);
	batch.images = images;
	batch.labels = labels;
	check(program_evaluate(program, &batch, &whole, &err));
	batch.count = PIECE;
	for (int i = 0; i < COUNT; i += PIECE) {
		batch.images = images + (size_t)i * size;
		batch.labels = labels + i;
		check(program_evaluate(program, &batch, &pieces, &err));
	}
	assert_int_equal(whole.count, COUNT);
	assert_int_equal(whole.correct, pieces.correct);
	assert_true(fabs(whole.loss - pieces.loss) < 1e-9 * whole.loss);
	program_free(program);
	free(images);
}

/* Refused before memory is allocated: no device has enough. */
static void pixels_beyond_an_int_are_refused(void **state)
{
	const struct model *model = model_find("tiny");
	const struct program_options options = { .batch = 3000000,
						 .test_batch = 1,
						 .algorithm = algorithm };
	struct program *program;

	(void)state;
	assert_int_equal(program_compile(device, model, &options, &program,
					 &err), -1);
	assert_non_null(strstr(err.message, "a batch of 3000000 samples of "));
	assert_non_null(strstr(err.message, "allow at most 2147483647 pixels"));
}

/* Two steps, so that the state counts; the reference keeps it in double. */
static void update_is_adadelta(void **state)
{
	const struct update update = { .lr = 0.7, .rho = 0.9, .eps = 1e-6 };
	struct pair pair;

	(void)state;
	pair_open(&pair, model_find("tiny"), 1);
	for (int step = 0; step < 2; step++) {
		check(program_gradient(pair.program, &pair.batch, &err));
		check(program_load(pair.program, VECTOR_GRADIENT, pair.found,
				   &err));
		check(program_store(pair.reference, VECTOR_GRADIENT,
				    pair.found, &err));
		check(program_update(pair.program, &update, &err));
		check(program_update(pair.reference, &update, &err));
	}
	for (int v = 0; v < VECTOR_COUNT; v++) {
		check(program_load(pair.program, v, pair.found, &err));
		check(program_load(pair.reference, v, pair.expected, &err));
		expect_near(&pair, pair.found, pair.expected);
	}
	pair_close(&pair);
}

static void vectors_come_back(void **state)
{
	struct pair pair;
	size_t count;

	(void)state;
	pair_open(&pair, model_find("tiny"), 1);
	count = pair.program->parameters;
	for (int v = 0; v < VECTOR_COUNT; v++) {
		for (size_t i = 0; i < count; i++)
			pair.expected[i] = (float)((int)i + 10000 * v);
		check(program_store(pair.program, v, pair.expected, &err));
	}
	for (int v = 0; v < VECTOR_COUNT; v++) {
		check(program_load(pair.program, v, pair.found, &err));
		for (size_t i = 0; i < count; i++)
			assert_int_equal(pair.found[i], i + 10000 * (size_t)v);
	}
	pair_close(&pair);
}

static void gradient_is_lent(void **state)
{
	struct pair pair;
	float *lent;

	(void)state;
	pair_open(&pair, model_find("tiny"), 1);
	check(program_gradient(pair.program, &pair.batch, &err));
	check(program_load(pair.program, VECTOR_GRADIENT, pair.expected, &err));
	lent = program_map(pair.program, VECTOR_GRADIENT, &err);
	assert_non_null(lent);
	assert_int_equal(pair.program->length, pair.program->parameters);
	for (size_t i = 0; i < pair.program->length; i++)
		lent[i] *= 2;
	check(program_unmap(pair.program, VECTOR_GRADIENT, &err));
	check(program_load(pair.program, VECTOR_GRADIENT, pair.found, &err));
	for (size_t i = 0; i < pair.program->parameters; i++)
		assert_true(pair.found[i] == 2 * pair.expected[i]);
	pair_close(&pair);
}

/* A step later with the same everything gives the same bits. */
static void gradient_is_repeatable(void **state)
{
	struct pair pair;

	(void)state;
	pair_open(&pair, model_find("tiny"), 1);
	pair.batch.count = BATCH;
	check(program_gradient(pair.program, &pair.batch, &err));
	check(program_load(pair.program, VECTOR_GRADIENT, pair.expected, &err));
	pair.batch.count = 2;
	check(program_gradient(pair.program, &pair.batch, &err));
	pair.batch.count = BATCH;
	check(program_gradient(pair.program, &pair.batch, &err));
	check(program_load(pair.program, VECTOR_GRADIENT, pair.found, &err));
	assert_memory_equal(pair.found, pair.expected,
			    pair.program->parameters * sizeof(float));
	pair_close(&pair);
}

/* Row 10, column 8 reaches only the last of a pooling window; the dropouts keep
 * some of what it reaches. */
static void nan_reaches_the_loss(void **state)
{
	struct score score;
	struct pair pair;

	(void)state;
	pair_open(&pair, &bare_model, 1);
	expect_gradient(&pair);
	pair.images[10 * bare_model.input.width + 8] = NAN;
	check(program_gradient(pair.program, &pair.batch, &err));
	check(program_finish(pair.program, &score, &err));
	assert_true(isnan(score.loss));
	pair_close(&pair);
}

/* Where everything is equal the first of a window wins, below zero too. */
static void first_of_equals_wins(void **state)
{
	const struct model *model = model_find("tiny");
	struct tensor tensors[MODEL_MAX_TENSORS];
	struct pair pair;

	(void)state;
	pair_open(&pair, model, 0);
	model_tensors(model, tensors);
	memset(pair.parameters, 0, pair.program->parameters * sizeof(float));
	for (size_t i = 0; i < tensors[3].count; i++) /* conv2.bias */
		pair.parameters[tensors[3].offset + i] = -1;
	check(program_store(pair.program, VECTOR_PARAMETERS, pair.parameters,
			    &err));
	check(program_store(pair.reference, VECTOR_PARAMETERS,
			    pair.parameters, &err));
	expect_gradient(&pair);
	check(program_decisions(pair.program, 4, pair.decisions, &err));
	for (int i = 0; i < 3 * 5 * 5 * 5; i++)
		assert_int_equal(pair.decisions[i], 0);
	pair_close(&pair);
}

/* A broken layer lacks the last sample in its weights, and only there. */
static void broken_layers_lack_a_sample(void **state)
{
	static const char *const names[] = { "conv1", "conv2", "fc1" };
	struct tensor tensors[MODEL_MAX_TENSORS];
	struct pair pair, broken;

	(void)state;
	pair_open(&pair, model_find("tiny"), 1);
	expect_gradient(&pair);
	model_tensors(pair.model, tensors);
	for (int i = 0; i < 3; i++) {
		size_t weight = tensors[2 * i].offset;
		size_t count = tensors[2 * i].count;

		setenv("BENCH_TEST_BREAK", names[i], 1);
		pair_open(&broken, model_find("tiny"), 1);
		unsetenv("BENCH_TEST_BREAK");
		check(program_gradient(broken.program, &broken.batch, &err));
		check(program_load(broken.program, VECTOR_GRADIENT,
				   broken.found, &err));
		assert_memory_not_equal(broken.found + weight,
					pair.found + weight,
					count * sizeof(float));
		assert_memory_equal(broken.found, pair.found,
				    weight * sizeof(float));
		broken.batch.count--;
		check(program_gradient(broken.reference, &broken.batch, &err));
		check(program_load(broken.reference, VECTOR_GRADIENT,
				   broken.expected, &err));
		for (size_t k = weight; k < weight + count; k++)
			assert_true(fabsf(broken.found[k] -
					  broken.expected[k]) < 1e-4);
		pair_close(&broken);
	}
	pair_close(&pair);
}

static void devices_are_listed_and_chosen(void **state)
{
	struct device_request request = { .choice = "0", .cpus = 1 };
	struct device_info list[8], info;
	struct device *chosen = NULL;
	int count;

	(void)state;
	count = backend_list(device->backend, 1, list, 8, &err);
	assert_true(count > 0);
	assert_string_equal(list[0].unusable, "");
	assert_true(list[0].units > 0 && list[0].memory > 0);
	check(device_open(device->backend, &request, &chosen, &err));
	device_describe(chosen, &info);
	device_close(chosen);
	assert_string_equal(info.name, list[0].name);
	assert_string_equal(info.type, list[0].type);
	request.choice = "no such device";
	assert_int_equal(device_open(device->backend, &request, &chosen, &err),
			 -1);
	assert_int_equal(err.kind, ERROR_MISSING);
	assert_non_null(strstr(err.message, list[0].name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_are_right),
		cmocka_unit_test(odd_models_are_right),
		cmocka_unit_test(decisions_outlive_an_update),
		cmocka_unit_test(long_tests_are_sliced),
		cmocka_unit_test(pixels_beyond_an_int_are_refused),
		cmocka_unit_test(update_is_adadelta),
		cmocka_unit_test(vectors_come_back),
		cmocka_unit_test(gradient_is_lent),
		cmocka_unit_test(gradient_is_repeatable),
		cmocka_unit_test(nan_reaches_the_loss),
		cmocka_unit_test(first_of_equals_wins),
		cmocka_unit_test(broken_layers_lack_a_sample),
		cmocka_unit_test(devices_are_listed_and_chosen),
	};

	compile_plainly();
	return run_classes(tests, sizeof(tests) / sizeof(tests[0]));
}
