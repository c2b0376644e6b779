/* Every backend's steps and evaluations against the reference. */
#include <malloc.h>

#include "backends/cpu/isa.h"
#include "tests/kernels/lockstep.h"

/* Sizes that are no whole number of anything, and pooling of three. */
static const struct layer odd_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 18, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 33, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 3 },
	{ .kind = LAYER_DROPOUT, .drop = .3 },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 5, .window = 2 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 37 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "e", .outputs = 3 },
	{ .kind = LAYER_LOSS },
};

static const struct model odd_model = {
	.name = "odd",
	.input = { 2, 20, 17 },
	.layers = odd_layers,
	.layer_count = sizeof(odd_layers) / sizeof(odd_layers[0]),
};

/* Nothing before the linear layers. How much is dropped is set by its test. */
static struct layer flat_layers[] = {
	{ .kind = LAYER_LINEAR, .name = "a", .outputs = 21 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct model flat_model = {
	.name = "flat",
	.input = { 2, 7, 5 },
	.layers = flat_layers,
	.layer_count = sizeof(flat_layers) / sizeof(flat_layers[0]),
};

/* Shares of all sizes in a row, so that nothing is left from the one before. */
static void tiny_steps_are_right(void **state)
{
	static const struct {
		int count, place, stride;
	} shares[] = { { 32, 0, 1 }, { 5, 1, 3 },  { 0, 2, 3 },	 { 31, 0, 1 },
		       { 1, 1, 3 },  { 2, 0, 1 },  { 32, 1, 3 }, { 3, 7, 8 },
		       { 0, 0, 1 },  { 31, 1, 3 }, { 1, 0, 1 },	 { 2, 1, 3 } };
	const struct model *model = model_find("tiny");
	struct pair pair;

	pair_open(&pair, *state, model, BATCH, 1);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		struct batch batch = batch_make(model, (uint32_t)i,
						shares[i].count);

		batch.step = (uint32_t)i * 100;
		batch.place = shares[i].place;
		batch.stride = shares[i].stride;
		batch.global_count = shares[i].count * shares[i].stride + 1;
		compare_step(&pair, &batch, 1);
		batch_free(&batch);
	}
	pair_close(&pair);
}

/*
 * Two steps of a few samples, the second one not far from the first: once few
 * samples are learnt, 1 - p is too small to be known to NEAR of itself.
 */
static void compare_few(const struct variant *variant,
			const struct model *model, int count, int dropout)
{
	struct pair pair;

	pair_open(&pair, variant, model, count, dropout);
	for (uint32_t step = 0; step < 2; step++) {
		struct batch batch = batch_make(model, 20 + step, count);

		batch.step = step;
		compare_step(&pair, &batch, .1);
		batch_free(&batch);
	}
	pair_close(&pair);
}

static void mnist_steps_are_right(void **state)
{
	compare_few(*state, model_find("mnist"), 3, 1);
}

static void mnist_example_steps_are_right(void **state)
{
	compare_few(*state, model_find("mnist-example"), 3, 1);
}

static void odd_steps_are_right(void **state)
{
	compare_few(*state, &odd_model, 5, 1);
}

/* Gradient and update, then both at once. A choice of the second sample is the
 * last that keeps: its word is the threshold. */
static void linear_layers_may_come_first(void **state)
{
	uint32_t words[4];
	struct pair pair;

	random_words(SEED, (const uint32_t[]){ 2, 1, 0, 2 }, words);
	flat_layers[2].drop = words[0] * 0x1p-32;
	compare_few(*state, &flat_model, 5, 1);
	pair_open(&pair, *state, &flat_model, 5, 1);
	for (uint32_t step = 0; step < 2; step++) {
		struct batch batch = batch_make(&flat_model, 30 + step, 5);

		batch.step = step;
		compare_training(&pair, &batch, .1);
		batch_free(&batch);
	}
	pair_close(&pair);
}

static void nothing_is_dropped_when_told_so(void **state)
{
	/* A batch as in test_contract.c: of the same kernels. */
	compare_few(*state, model_find("tiny"), BATCH, 0);
}

static void evaluations_are_right(void **state)
{
	static const int counts[] = { 40, 1, 7, 33, 0, 3 };
	const struct model *model = model_find("tiny");
	struct score tried = { 1.5, 2, 3 }, right = tried;
	struct pair pair;

	pair_open(&pair, *state, model, BATCH, 1);
	copy_vector(&pair, VECTOR_PARAMETERS);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct batch batch = batch_make(model, (uint32_t)i, counts[i]);

		compare_evaluation(&pair, &batch, &tried, &right);
		batch_free(&batch);
	}
	assert_int_equal(tried.count, 3 + 40 + 1 + 7 + 33 + 3);
	compare_vector(&pair, "the parameter", VECTOR_PARAMETERS, NEAR);
	pair_close(&pair);
}

/* Padded, its planes have more places than an int counts. */
static const struct layer padded_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 5, .window = 5,
	  .stride = 12000, .pad = 12000 },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 3 },
	{ .kind = LAYER_LOSS },
};

static const struct model padded_model = {
	.name = "padded", .input = { 4, 28, 28 }, .layers = padded_layers,
	.layer_count = sizeof(padded_layers) / sizeof(padded_layers[0]),
};

static void padding_has_no_places(void **state)
{
	compare_few(*state, &padded_model, 2, 0);
}

/* Bytes that the allocator has lent. */
static double lent(void)
{
	const struct mallinfo2 all = mallinfo2();

	return (double)all.uordblks + (double)all.hblkhd;
}

/* Of the cpu backend: large are the bytes of arrays that a program certainly
 * has. An array may be longer by most of a huge page. */
static void arrays_are_estimated(const struct model *model,
				 const struct program_options *options,
				 double large)
{
	const struct backend *cpu = backend_find("cpu");
	const double estimate =
		backend_batch_bytes(cpu, model, options) +
		backend_vector_bytes(cpu, model, options, 1, 0);
	struct subject subject;
	double taken = -lent();

	subject_open(&subject, "cpu", model, options);
	taken += lent();
	subject_close(&subject);
	assert_true(taken > large);
	assert_true(taken < estimate + 4 * (2 << 20));
}

/* A row of the window is a tap, and a table has its place for each pixel: that
 * is more than all values. */
static void tables_are_estimated(void **state)
{
	static const struct layer layers[] = {
		{ .kind = LAYER_CONV, .name = "a", .outputs = 1, .window = 65 },
		{ .kind = LAYER_AVGPOOL, .outputs = 1 },
		{ .kind = LAYER_LINEAR, .name = "b", .outputs = 3 },
		{ .kind = LAYER_LOSS },
	};
	const struct model model = { .name = "tables", .layers = layers,
				     .layer_count = 4,
				     .input = { 1, 464, 464 } };
	const struct program_options options = { .batch = 1, .test_batch = 1 };

	variant_choose(*state);
	arrays_are_estimated(&model, &options,
			     400. * 400 * 65 * sizeof(int32_t));
}

/* Winograd's points of the weights of the first layer, and the weights of the
 * second. */
static void packed_weights_are_estimated(void **state)
{
	static const struct layer layers[] = {
		{ .kind = LAYER_CONV, .name = "a", .outputs = 512, .window = 3,
		  .pad = 1 },
		{ .kind = LAYER_CONV, .name = "b", .outputs = 5120,
		  .window = 1 },
		{ .kind = LAYER_AVGPOOL, .outputs = 1 },
		{ .kind = LAYER_LINEAR, .name = "c", .outputs = 3 },
		{ .kind = LAYER_LOSS },
	};
	const struct model model = { .name = "packed", .layers = layers,
				     .layer_count = 5,
				     .input = { 512, 8, 8 } };
	const struct program_options options = { .batch = 1, .test_batch = 1,
						 .infers = 1,
						 .precision = PRECISION_BF16 };

	variant_choose(*state);
	arrays_are_estimated(&model, &options,
			     (36. * 512 * 512 + 512. * 5120) *
				     sizeof(uint16_t));
}

/* After one gradient, more than 800 that are 0, as a dead unit's: its averages
 * would become denormal, and an update slow. */
static void states_stay_normal(const struct variant *variant,
			       const struct recipe *recipe)
{
	const struct update update = recipe_update(recipe, .1, 1);
	/* With the dropout of other cases, for their kernels. */
	const struct program_options options = { .batch = 5, .test_batch = 1,
						 .seed = SEED, .dropout = 1 };
	struct model model = flat_model;
	struct batch batch = batch_make(&flat_model, 30, 5);
	struct pair pair;

	model.recipe = *recipe;
	pair_open_with(&pair, variant, &model, &options);
	for (int step = 0; step < 900; step++) {
		subject_gradient(&pair.tried, &batch);
		subject_update(&pair.tried, &update);
		batch.count = 0;
	}
	for (int v = VECTOR_STATE_0; v < pair.tried.program->vectors; v++) {
		float *values = subject_load(&pair.tried, (enum vector)v);

		for (size_t i = 0; i < pair.tried.program->parameters; i++)
			assert_int_not_equal(fpclassify(values[i]),
					     FP_SUBNORMAL);
		free(values);
	}
	pair_close(&pair);
	batch_free(&batch);
}

static void dead_units_cost_nothing(void **state)
{
	static const struct recipe recipes[] = {
		{ .optimizer = OPTIMIZER_ADADELTA, .rho = .9, .eps = 1e-6 },
		{ .optimizer = OPTIMIZER_ADAM, .beta1 = .9, .beta2 = .9,
		  .eps = 1e-8 },
		{ .optimizer = OPTIMIZER_SGD, .momentum = .9 },
	};

	for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++)
		states_stay_normal(*state, &recipes[i]);
}

/* All but those whose copies of planes are padded: they decline it. */
static int reads_planes(const struct variant *variant)
{
	return strcmp(variant->name, "opencl cpu") != 0;
}

static int is_cpu(const struct variant *variant)
{
	return !strcmp(variant->backend, "cpu");
}

/* By AMX's tiles there are no points. */
static int has_rounded_points(const struct variant *variant)
{
	const struct cpu_kernels *kernels;
	struct error err;

	variant_choose(variant);
	kernels = is_cpu(variant) ? cpu_choose_kernels(&err) : NULL;
	return kernels && !kernels->has_tiles && cpu_bf16_products(kernels);
}

int main(void)
{
	static const struct check checks[] = {
		{ "tiny steps", tiny_steps_are_right, 0 },
		{ "odd steps", odd_steps_are_right, 0 },
		{ "linear steps first", linear_layers_may_come_first, 0 },
		{ "no dropout", nothing_is_dropped_when_told_so, 0 },
		{ "evaluations", evaluations_are_right, 0 },
		{ "dead units", dead_units_cost_nothing, 0 },
	};

	static const struct check tables = { "tables", tables_are_estimated,
					     1 };
	static const struct check packed = {
		"packed weights", packed_weights_are_estimated, 1
	};
	static const struct check mnist[] = {
		{ "mnist steps", mnist_steps_are_right, 1 },
		{ "mnist-example steps", mnist_example_steps_are_right, 1 },
	};
	static const struct check padding = { "huge padding",
					      padding_has_no_places, 0 };

	/* First: later an OpenCL driver's thread may still release memory. */
	const int failed =
		run_some_variants("backends, tables", &tables, 1, is_cpu) +
		run_some_variants("backends, packed weights", &packed, 1,
				  has_rounded_points);

	return failed +
	       run_variants("backends", checks,
			    sizeof(checks) / sizeof(checks[0])) +
	       run_some_variants("backends, mnist", mnist, 2, is_tried) +
	       run_some_variants("backends, padding", &padding, 1,
				 reads_planes);
}
