/* NaN on an OpenCL device: it wins a window, and is gone where dropped. */
#include "models/random.h"
#include "tests/kernels/opencl_pair.h"

#define DROP 0.9 /* so that all of 16 are dropped in few steps */

#define MODEL(name_, layers_, ...)                                           \
	{ .name = name_,                                                     \
	  .input = __VA_ARGS__,                                              \
	  .layers = layers_,                                                 \
	  .layer_count = sizeof(layers_) / sizeof(layers_[0]) }

/* By tiles where vectors have up to 16 floats; 4 x 4 are pooled. */
static const struct layer led_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 16, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 16, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT2D, .drop = DROP },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct layer tiles_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 16, .window = 2 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 16, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = DROP },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct layer planes_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 3, .window = 2 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 3, .window = 2 },
	{ .kind = LAYER_DROPOUT2D, .drop = DROP },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct layer elements_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 3, .window = 2 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 3, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = DROP },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct layer linear_layers[] = {
	{ .kind = LAYER_LINEAR, .name = "a", .outputs = 7 },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 9 },
	{ .kind = LAYER_DROPOUT, .drop = DROP },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

/* dropout: which layer; choices: that drop all of the first output of b. */
static const struct {
	struct model model;
	int dropout, choices;
} dropping[] = {
	{ MODEL("led", led_layers, { 1, 11, 11 }), 4, 1 },
	{ MODEL("tiles", tiles_layers, { 1, 21, 21 }), 4, 16 },
	{ MODEL("planes", planes_layers, { 1, 6, 6 }), 2, 1 },
	{ MODEL("elements", elements_layers, { 1, 6, 6 }), 2, 16 },
	{ MODEL("linear", linear_layers, { 1, 3, 3 }), 2, 1 },
};

/* The next step in which some choices of the first sample, from the first on or
 * from a later one, keep something, or nothing. */
static void find_step(struct pair *pair, int layer, int from, int to,
		      int keeps)
{
	uint8_t keep[16];

	do {
		pair->batch.step++;
		dropout_choices(SEED, pair->batch.step,
				(uint32_t)pair->batch.place, (uint32_t)layer,
				DROP, to, keep);
	} while ((memchr(keep + from, 1, (size_t)(to - from)) != NULL) !=
		 keeps);
}

/* As if there were no NaN: the reference has none, in what is dropped. */
static void expect_as_without(struct pair *pair, int layer, int choices)
{
	struct score found, expected;

	find_step(pair, layer, 0, choices, 0);
	pair->batch.count = 1;
	check(program_gradient(pair->program, &pair->batch, &err));
	check(program_finish(pair->program, &found, &err));
	follow(pair);
	check(program_gradient(pair->reference, &pair->batch, &err));
	check(program_finish(pair->reference, &expected, &err));
	assert_true(fabs(found.loss - expected.loss) <= NEAR * expected.loss);
	check(program_load(pair->program, VECTOR_GRADIENT, pair->found, &err));
	check(program_load(pair->reference, VECTOR_GRADIENT, pair->expected,
			   &err));
	expect_near(pair, pair->found, pair->expected);
}

static void dropped_nan_is_gone(void **state)
{
	(void)state;
	/* The first two are by tiles, which dense has not. */
	for (size_t i = algorithm == ALGORITHM_DENSE ? 2 : 0;
	     i < sizeof(dropping) / sizeof(*dropping); i++) {
		struct tensor tensors[MODEL_MAX_TENSORS];
		struct pair pair;

		pair_open(&pair, &dropping[i].model, 1);
		model_tensors(pair.model, tensors);
		pair.parameters[tensors[3].offset] = NAN; /* b's first bias */
		check(program_store(pair.program, VECTOR_PARAMETERS,
				    pair.parameters, &err));
		expect_as_without(&pair, dropping[i].dropout,
				  dropping[i].choices);
		pair_close(&pair);
	}
}

/* The last pixel reaches only the last of the last window, the fourth. Choice
 * 15 is of the last plane, or of that window in the first one. */
static void nan_wins_its_window(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct model *model = &dropping[i].model;
		const size_t last = shape_size(model->input) - 1;
		struct score score;
		struct pair pair;

		pair_open(&pair, model, 1);
		find_step(&pair, dropping[i].dropout, 15, 16, 1);
		pair.images[last - (i ? model->input.width + 1u : 0)] = NAN;
		pair.batch.count = 1;
		check(program_gradient(pair.program, &pair.batch, &err));
		check(program_finish(pair.program, &score, &err));
		assert_true(isnan(score.loss));
		check(program_decisions(pair.program, 3, pair.decisions, &err));
		for (int plane = 0; plane < 16; plane++)
			assert_int_equal(pair.decisions[plane * 16 + 15], 3);
		pair_close(&pair);
	}
}

/* No window reaches rows and columns 2 and 3. */
static void nan_between_windows_is_not_read(void **state)
{
	static const struct layer layers[] = {
		{ .kind = LAYER_CONV, .name = "a", .outputs = 3, .window = 2,
		  .stride = 4 },
		{ .kind = LAYER_LINEAR, .name = "b", .outputs = 5 },
		{ .kind = LAYER_LOSS },
	};
	static const struct model model = MODEL("strided", layers, { 1, 6, 6 });
	struct pair pair;

	(void)state;
	pair_open(&pair, &model, 0);
	for (int i = 0; i < TEST_BATCH * 36; i++)
		if (i / 6 % 6 % 4 > 1 || i % 6 % 4 > 1)
			pair.images[i] = NAN;
	expect_gradient(&pair);
	pair_close(&pair);
}

int main(void)
{
	const struct CMUnitTest everywhere[] = {
		cmocka_unit_test(dropped_nan_is_gone),
		cmocka_unit_test(nan_between_windows_is_not_read),
	};
	const struct CMUnitTest windows[] = {
		cmocka_unit_test(nan_wins_its_window),
	};

	compile_plainly();
	return run_classes(everywhere,
			   sizeof(everywhere) / sizeof(everywhere[0])) +
	       run_class("cpu", ALGORITHM_FAST, windows, 1) +
	       run_class("gpu", ALGORITHM_FAST, windows, 1);
}
