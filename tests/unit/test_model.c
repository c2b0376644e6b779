/* The networks: shapes, sizes and work against known numbers. */
#include "models/model.h"
#include "tests/cmocka.h"

static const struct model *find(const char *name)
{
	const struct model *model = model_find(name);

	assert_non_null(model);
	return model;
}

static void must_pass(const struct model *model)
{
	char wrong[256];

	if (model_check(model, wrong, sizeof(wrong)) ||
	    recipe_check(&model->recipe, wrong, sizeof(wrong)))
		fail_msg("%s", wrong);
}

static void models_are_listed(void **state)
{
	const char *const names[] = {
		"mnist",   "mnist-example", "xla-mnist", "mnist-2019",
		"alexnet", "ddp-toy",	    "resnet34",	 "resnet50",
		"tiny",
	};
	const int classes[] = { 10, 10, 10, 10, 10, 16, 10, 1000, 10 };
	const struct model *model = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		model = model_next(model);
		assert_non_null(model);
		assert_string_equal(model->name, names[i]);
		assert_ptr_equal(model_find(names[i]), model);
		must_pass(model);
		assert_int_equal(model_classes(model), classes[i]);
	}
	assert_null(model_next(model));
	assert_null(model_find("mnis"));
	assert_null(model_find(""));
}

static void assert_inputs(const char *name, const struct shape *shapes,
			  int count)
{
	const struct model *model = find(name);

	assert_int_equal(model->layer_count, count);
	for (int l = 0; l < count; l++) {
		const struct shape in = model_layer_input(model, l);

		assert_int_equal(in.channels, shapes[l].channels);
		assert_int_equal(in.height, shapes[l].height);
		assert_int_equal(in.width, shapes[l].width);
	}
}

/* What goes into each layer, the loss being the last. */
static void shapes_follow_from_the_tables(void **state)
{
	static const struct shape mnist[] = {
		{ 1, 28, 28 },	{ 32, 26, 26 }, { 32, 26, 26 }, { 64, 24, 24 },
		{ 64, 12, 12 }, { 64, 12, 12 }, { 128, 1, 1 },	{ 128, 1, 1 },
		{ 128, 1, 1 },	{ 10, 1, 1 },
	};
	static const struct shape example[] = {
		{ 1, 28, 28 },	{ 32, 26, 26 }, { 32, 26, 26 }, { 64, 24, 24 },
		{ 64, 24, 24 }, { 64, 12, 12 }, { 64, 12, 12 }, { 128, 1, 1 },
		{ 128, 1, 1 },	{ 128, 1, 1 },	{ 10, 1, 1 },
	};
	static const struct shape tiny[] = {
		{ 1, 28, 28 },	{ 3, 26, 26 }, { 3, 26, 26 }, { 3, 13, 13 },
		{ 5, 11, 11 },	{ 5, 5, 5 },   { 5, 5, 5 },   { 17, 1, 1 },
		{ 17, 1, 1 },	{ 17, 1, 1 },  { 10, 1, 1 },
	};

	(void)state;
	assert_inputs("mnist", mnist, 10);
	assert_inputs("mnist-example", example, 11);
	assert_inputs("tiny", tiny, 11);
}

struct known {
	const char *name;
	size_t offset, count;
	int layer, fan_in;
};

static void assert_known(const char *name, const struct known *known, int count,
			 size_t parameters)
{
	const struct model *model = find(name);
	struct tensor tensors[MODEL_MAX_TENSORS];

	assert_int_equal(model_tensors(model, tensors), count);
	for (int t = 0; t < count; t++) {
		assert_string_equal(tensors[t].name, known[t].name);
		assert_int_equal(tensors[t].offset, known[t].offset);
		assert_int_equal(tensors[t].count, known[t].count);
		assert_int_equal(tensors[t].layer, known[t].layer);
		assert_int_equal(tensors[t].fan_in, known[t].fan_in);
	}
	assert_int_equal(model_parameter_count(model), parameters);
}

/* In the order and under the names of PyTorch's state_dict(). */
static void tensors_have_their_places(void **state)
{
	static const struct known mnist[] = {
		{ "conv1.weight", 0, 288, 0, 9 },
		{ "conv1.bias", 288, 32, 0, 9 },
		{ "conv2.weight", 320, 18432, 2, 288 },
		{ "conv2.bias", 18752, 64, 2, 288 },
		{ "fc1.weight", 18816, 1179648, 5, 9216 },
		{ "fc1.bias", 1198464, 128, 5, 9216 },
		{ "fc2.weight", 1198592, 1280, 8, 128 },
		{ "fc2.bias", 1199872, 10, 8, 128 },
	};
	static const struct known tiny[] = {
		{ "conv1.weight", 0, 27, 0, 9 },
		{ "conv1.bias", 27, 3, 0, 9 },
		{ "conv2.weight", 30, 135, 3, 27 },
		{ "conv2.bias", 165, 5, 3, 27 },
		{ "fc1.weight", 170, 2125, 6, 125 },
		{ "fc1.bias", 2295, 17, 6, 125 },
		{ "fc2.weight", 2312, 170, 9, 17 },
		{ "fc2.bias", 2482, 10, 9, 17 },
	};
	struct tensor tensors[MODEL_MAX_TENSORS];

	(void)state;
	assert_known("mnist", mnist, 8, 1199882);
	assert_known("tiny", tiny, 8, 2492);
	assert_int_equal(model_parameter_count(find("mnist-example")), 1199882);
	assert_int_equal(model_parameter_count(find("alexnet")), 57044810);
	assert_int_equal(model_parameter_count(find("ddp-toy")), 16400);
	assert_int_equal(model_parameter_count(find("resnet34")), 21289802);
	assert_int_equal(model_buffer_count(find("resnet34")), 17024);
	assert_int_equal(model_tensors(find("resnet34"), tensors), 110);
	assert_int_equal(model_parameter_count(find("resnet50")), 25557032);
	assert_int_equal(model_buffer_count(find("resnet50")), 53120);
	assert_int_equal(model_tensors(find("resnet50"), tensors), 161);
	assert_string_equal(tensors[12].name, "layer1.0.downsample.0.weight");
}

static void work_is_counted(void **state)
{
	static const struct {
		const char *name;
		double forward, first; /* of it, the first convolution */
	} known[] = {
		{ "mnist", 11992448, 194688 },
		{ "mnist-example", 11992448, 194688 },
		{ "tiny", 36882, 18252 },
		{ "alexnet", 710133440, 70276800 },
		{ "resnet34", 1196168192, 38535168 },
		{ "resnet50", 4089184256, 118013952 },
	};

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		const struct model_work work = model_work(find(known[i].name));

		assert_true(work.forward == known[i].forward);
		assert_true(work.backward_weights == known[i].forward);
		/* Images need no gradient. */
		assert_true(work.backward_data ==
			    known[i].forward - known[i].first);
	}
}

static void decisions_are_counted(void **state)
{
	const struct shape in = { 5, 7, 9 };
	static const struct {
		struct layer layer;
		size_t count;
	} known[] = {
		{ { .kind = LAYER_CONV, .outputs = 2, .window = 3 }, 0 },
		{ { .kind = LAYER_RELU }, 5 * 7 * 9 },
		{ { .kind = LAYER_MAXPOOL, .window = 2 }, 5 * 3 * 4 },
		{ { .kind = LAYER_DROPOUT, .drop = .5 }, 5 * 7 * 9 },
		{ { .kind = LAYER_DROPOUT2D, .drop = .5 }, 5 },
		{ { .kind = LAYER_LINEAR, .outputs = 4 }, 0 },
		{ { .kind = LAYER_AVGPOOL, .outputs = 2 }, 0 },
		{ { .kind = LAYER_BATCHNORM }, 0 },
		{ { .kind = LAYER_ADD }, 0 },
		{ { .kind = LAYER_LOSS }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < LAYER_KINDS; i++)
		assert_int_equal(layer_decisions(&known[i].layer, in),
				 known[i].count);
}

static void windows_that_do_not_fit_give_nothing(void **state)
{
	const struct shape in = { 1, 5, 4 };
	struct layer layer = { .kind = LAYER_CONV, .outputs = 2, .window = 4 };

	(void)state;
	assert_int_equal(shape_size(layer_output(&layer, in)), 2 * 2 * 1);
	layer.window = 5;
	assert_int_equal(shape_size(layer_output(&layer, in)), 0);
	layer.window = 0;
	assert_int_equal(shape_size(layer_output(&layer, in)), 0);
	layer.kind = LAYER_MAXPOOL;
	assert_int_equal(shape_size(layer_output(&layer, in)), 0);
	layer.window = 5;
	assert_int_equal(shape_size(layer_output(&layer, in)), 0);
}

/* A basic block of a residual network, its skip by a convolution, with all that
 * may be in a row; sizes by hand. */
static const struct layer block[] = {
	{ .kind = LAYER_CONV, .name = "conv1", .outputs = 4, .window = 7,
	  .stride = 2, .pad = 3, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "bn1" },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2, .pad = 1 },
	{ .kind = LAYER_CONV, .name = "a.conv", .outputs = 6, .window = 3,
	  .stride = 2, .pad = 1 },
	{ .kind = LAYER_CONV, .name = "a.downsample", .outputs = 6,
	  .window = 1, .stride = 2, .from = 1, .no_bias = 1 },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_AVGPOOL, .outputs = 2 },
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct model block_model = {
	.name = "block",
	.input = { 3, 29, 22 },
	.layers = block,
	.layer_count = sizeof(block) / sizeof(block[0]),
};

static void graphs_have_their_sizes(void **state)
{
	static const struct shape known[] = {
		{ 3, 29, 22 }, { 4, 15, 11 }, { 4, 15, 11 }, { 4, 8, 6 },
		{ 4, 8, 6 },   { 6, 4, 3 },   { 6, 4, 3 },   { 6, 2, 2 },
		{ 5, 1, 1 },
	};
	const double stem = 4. * 15 * 11 * 3 * 49;
	const double rest = 6. * 4 * 3 * (4 * 9 + 4) + 5 * 24;
	const struct model_work work = model_work(&block_model);
	struct shape inputs[MODEL_MAX_LAYERS];
	char text[256];

	(void)state;
	assert_int_equal(model_check(&block_model, text, sizeof(text)), 0);
	model_inputs(&block_model, inputs);
	for (int l = 0; l < block_model.layer_count; l++) {
		const struct shape in = model_layer_input(&block_model, l);

		assert_memory_equal(&inputs[l], &known[l], sizeof(known[l]));
		assert_memory_equal(&in, &known[l], sizeof(known[l]));
	}
	assert_true(work.forward == stem + rest);
	assert_true(work.backward_weights == stem + rest);
	assert_true(work.backward_data == rest);
}

static void graphs_have_their_tensors(void **state)
{
	static const struct {
		const char *name;
		size_t count;
		int fan_in;
	} known[] = {
		{ "conv1.weight", 4 * 3 * 49, 147 },
		{ "bn1.weight", 4, 1 },
		{ "bn1.bias", 4, 1 },
		{ "a.conv.weight", 6 * 4 * 9, 36 },
		{ "a.conv.bias", 6, 36 },
		{ "a.downsample.weight", 6 * 4, 4 },
		{ "fc.weight", 5 * 24, 24 },
		{ "fc.bias", 5, 24 },
	};
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(&block_model, tensors);
	float parameters[1024], buffers[8];
	size_t offset = 0;

	(void)state;
	assert_int_equal(count, sizeof(known) / sizeof(known[0]));
	for (int t = 0; t < count; t++) {
		assert_string_equal(tensors[t].name, known[t].name);
		assert_int_equal(tensors[t].count, known[t].count);
		assert_int_equal(tensors[t].fan_in, known[t].fan_in);
		assert_int_equal(tensors[t].offset, offset);
		offset += known[t].count;
	}
	assert_int_equal(model_parameter_count(&block_model), offset);
	model_init(&block_model, 1, parameters);
	for (int i = 0; i < 4; i++) {
		assert_true(parameters[tensors[1].offset + (size_t)i] == 1);
		assert_true(parameters[tensors[2].offset + (size_t)i] == 0);
	}
	assert_int_equal(model_buffers(&block_model, tensors), 2);
	assert_string_equal(tensors[0].name, "bn1.running_mean");
	assert_string_equal(tensors[1].name, "bn1.running_var");
	assert_int_equal(model_buffer_count(&block_model), 8);
	model_init_buffers(&block_model, buffers);
	for (int i = 0; i < 8; i++)
		assert_true(buffers[i] == (i >= 4));
	assert_true(model_has_batchnorm(&block_model));
	assert_false(model_has_batchnorm(find("mnist")));
	assert_int_equal(model_buffer_count(find("mnist")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_are_listed),
		cmocka_unit_test(shapes_follow_from_the_tables),
		cmocka_unit_test(tensors_have_their_places),
		cmocka_unit_test(work_is_counted),
		cmocka_unit_test(decisions_are_counted),
		cmocka_unit_test(windows_that_do_not_fit_give_nothing),
		cmocka_unit_test(graphs_have_their_sizes),
		cmocka_unit_test(graphs_have_their_tensors),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
