/* The networks: shapes, sizes and settings against known numbers. */
#include "models/model.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

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
	const char *const names[] = { "mnist", "mnist-example", "xla-mnist",
				      "mnist-2019", "tiny" };
	const struct model *model = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		model = model_next(model);
		assert_non_null(model);
		assert_string_equal(model->name, names[i]);
		assert_ptr_equal(model_find(names[i]), model);
		must_pass(model);
		assert_int_equal(model_classes(model), 10);
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

	(void)state;
	assert_known("mnist", mnist, 8, 1199882);
	assert_known("tiny", tiny, 8, 2492);
	assert_int_equal(model_parameter_count(find("mnist-example")), 1199882);
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
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
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

/* A small network that is right; each case below spoils one thing. */
static const struct layer right[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 2, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = .5 },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 3 },
	{ .kind = LAYER_LOSS },
};

#define RIGHT_COUNT ((int)(sizeof(right) / sizeof(right[0])))

/* What is said of these layers, behind the model's name; NULL: nothing. */
static const char *check(const struct layer *layers, int count)
{
	static const char begin[] = "model 'spoilt'";
	static char text[256];
	const struct model model = { .name = "spoilt",
				     .input = { 1, 6, 6 },
				     .layers = layers,
				     .layer_count = count };

	if (!model_check(&model, text, sizeof(text)))
		return NULL;
	assert_int_equal(strncmp(text, begin, strlen(begin)), 0);
	return text + strlen(begin);
}

static const struct {
	int at;
	struct layer layer;
	const char *says;
} spoilt[] = {
	{ 0, { .kind = LAYER_CONV, .outputs = 2, .window = 3 },
	  ", layer 0 (conv): its parameters need a name" },
	{ 3, { .kind = LAYER_LINEAR, .name = "b" },
	  ", layer 3 (linear 'b'): 0 outputs, where 1 is the fewest" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 2,
	       .window = 7 },
	  ", layer 0 (conv 'a'): a window of 7x7 is larger than its "
	  "input of 1x6x6" },
	{ 1, { .kind = LAYER_MAXPOOL, .window = 5 },
	  ", layer 1 (maxpool): a window of 5x5 is larger than its "
	  "input of 2x4x4" },
	{ 1, { .kind = LAYER_MAXPOOL, .window = 16 },
	  ", layer 1 (maxpool): a window of 16x16, where 15x15 is the "
	  "largest of a pooling" },
	{ 1, { .kind = LAYER_MAXPOOL },
	  ", layer 1 (maxpool): a window of 0x0, where 1x1 is the "
	  "smallest" },
	{ 2, { .kind = LAYER_DROPOUT, .drop = 1 },
	  ", layer 2 (dropout): a probability to drop of 1, where it "
	  "is at least 0 and below 1" },
	{ 2, { .kind = LAYER_DROPOUT2D, .drop = -.5 },
	  ", layer 2 (dropout2d): a probability to drop of -0.5, where "
	  "it is at least 0 and below 1" },
	{ 2, { .kind = LAYER_DROPOUT, .drop = NAN },
	  ", layer 2 (dropout): a probability to drop of nan, where it "
	  "is at least 0 and below 1" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 2,
	       .window = 3, .stride = -1 },
	  ", layer 0 (conv 'a'): a stride of -1, where 1 is the "
	  "smallest" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 2,
	       .window = 3, .pad = -2 },
	  ", layer 0 (conv 'a'): a padding of -2, where 0 is the "
	  "smallest and 65535 the most" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 2,
	       .window = 3, .pad = 65536 },
	  ", layer 0 (conv 'a'): a padding of 65536, where 0 is the "
	  "smallest and 65535 the most" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 2,
	       .window = 9, .pad = 1 },
	  ", layer 0 (conv 'a'): a window of 9x9 is larger than its "
	  "input of 1x8x8, padded" },
	{ 1, { .kind = LAYER_MAXPOOL, .window = 3, .pad = 2 },
	  ", layer 1 (maxpool): a padding of 2, where half the window "
	  "of 3x3, 1, is the largest of a pooling" },
	{ 1, { .kind = LAYER_AVGPOOL },
	  ", layer 1 (avgpool): 0 outputs, where 1 is the fewest" },
	{ 1, { .kind = LAYER_BATCHNORM },
	  ", layer 1 (batchnorm): its parameters need a name" },
	{ 1, { .kind = LAYER_MAXPOOL, .window = 2, .no_bias = 1 },
	  ", layer 1 (maxpool): no_bias 1, which no maxpool has" },
	{ 2, { .kind = LAYER_RELU, .with = 1 },
	  ", layer 2 (relu): with 1, which no relu has" },
	{ 2, { .kind = LAYER_RELU, .from = -1 },
	  ", layer 2 (relu): from -1, where a row reads only rows "
	  "above it: 0 is layer 1" },
	{ 0, { .kind = LAYER_RELU, .from = -1 },
	  ", layer 0 (relu): from -1, where 0, the images, is all that the "
	  "first row can read" },
	{ 3, { .kind = LAYER_LINEAR, .name = "b", .outputs = 5, .window = 3 },
	  ", layer 3 (linear 'b'): window 3, which no linear has" },
	{ 1, { .kind = LAYER_MAXPOOL, .window = 2, .drop = .5 },
	  ", layer 1 (maxpool): drop 0.5, which no maxpool has" },
	{ 2, { .kind = LAYER_RELU, .loss = LOSS_MSE },
	  ", layer 2 (relu): loss 2, which no relu has" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 2,
	       .window = 70000, .pad = 69999 },
	  ", layer 0 (conv 'a'): a window of 70000 and a stride of 0, where "
	  "65535 is the most" },
	{ 1, { .kind = LAYER_AVGPOOL, .outputs = 50000 },
	  ", layer 1 (avgpool): 5000000000 values of a sample, where "
	  "2147483647 are the most" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 400000000,
	       .window = 3 },
	  ", layer 0 (conv 'a'): 6400000000 values of a sample, where "
	  "2147483647 are the most" },
	{ 3, { .kind = LAYER_LINEAR, .name = "b", .outputs = 400000000 },
	  ", layer 3 (linear 'b'): 3200000000 weights, where 2147483647 are "
	  "the most" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 130000000,
	       .window = 3 },
	  ": 2860000003 parameters, where 2147483647 are the most" },
	{ 2, { .kind = LAYER_RELU, .from = 3 },
	  ", layer 2 (relu): from 3, where 2, the images, is the "
	  "largest" },
	{ 2, { .kind = LAYER_ADD, .with = -2 },
	  ", layer 2 (add): with -2, where a row reads only rows "
	  "above it: 0 is layer 1" },
	{ 2, { .kind = LAYER_ADD, .with = 9 },
	  ", layer 2 (add): with 9, where 2, the images, is the "
	  "largest" },
	{ 2, { .kind = LAYER_ADD, .with = 1 },
	  ", layer 2 (add): adds 2x2x2 and 2x4x4, which differ" },
	{ 2, { .kind = LAYER_RELU, .from = 1 },
	  ", layer 1 (maxpool): no row reads its output" },
	{ 2, { .kind = LAYER_LOSS },
	  ", layer 2 (loss): a loss has to be the last layer, which is "
	  "layer 4" },
	{ 4, { .kind = LAYER_RELU },
	  ", layer 4 (relu): the last layer has to be a loss" },
	{ 3, { .kind = LAYER_LINEAR, .name = "b", .outputs = 65536 },
	  ", layer 4 (loss): 65536 classes, where 65535 are the most: labels "
	  "have 16 bits" },
};

static void spoilt_rows_are_refused(void **state)
{
	(void)state;
	assert_null(check(right, RIGHT_COUNT));
	for (size_t i = 0; i < sizeof(spoilt) / sizeof(spoilt[0]); i++) {
		struct layer layers[RIGHT_COUNT];

		memcpy(layers, right, sizeof(layers));
		layers[spoilt[i].at] = spoilt[i].layer;
		assert_non_null(check(layers, RIGHT_COUNT));
		assert_string_equal(check(layers, RIGHT_COUNT),
				    spoilt[i].says);
	}
}

static void spoilt_tables_are_refused(void **state)
{
	static struct layer many[MODEL_MAX_LAYERS + 1];
	static const struct layer nothing[] = { { .kind = LAYER_RELU },
						{ .kind = LAYER_LOSS } };
	struct model model = { .name = "spoilt",
			       .input = { 1, 0, 6 },
			       .layers = right,
			       .layer_count = RIGHT_COUNT };
	char text[256];

	(void)state;
	assert_int_equal(model_check(&model, text, sizeof(text)), -1);
	assert_string_equal(text, "model 'spoilt': an input of 1x0x6 is empty");
	for (int l = 0; l < MODEL_MAX_LAYERS; l++)
		many[l] = (struct layer){ .kind = LAYER_LINEAR, .name = "m",
					  .outputs = 2 };
	many[MODEL_MAX_LAYERS] = (struct layer){ .kind = LAYER_LOSS };
	assert_string_equal(check(right, 0),
			    ": 0 layers, where 1 to 192 are possible");
	assert_string_equal(check(many, MODEL_MAX_LAYERS + 1),
			    ": 193 layers, where 1 to 192 are possible");
	assert_null(check(many + 1, MODEL_MAX_LAYERS));
	assert_string_equal(check(nothing, 2),
			    ": none of 2 layers has parameters to learn");
	assert_string_equal(check(right, RIGHT_COUNT - 1),
			    ", layer 3 (linear 'b'): the last layer has to be "
			    "a loss");
}

/* A division by it would end the program. */
static void spoilt_recipes_are_refused(void **state)
{
	struct recipe recipe = find("mnist")->recipe;
	char text[256];

	(void)state;
	recipe.eps = 0;
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), -1);
	assert_string_equal(text, "eps is 0 in its recipe, where it is more "
				  "than 0");
	recipe = find("mnist")->recipe;
	recipe.lr_step = -1;
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), -1);
	assert_string_equal(text, "lr_step is -1 in its recipe, where it is at "
				  "least 0");
	recipe = (struct recipe){ .batch = 1, .epochs = 1, .eps = 1e-8,
				  .optimizer = OPTIMIZER_ADAM, .beta1 = .9,
				  .beta2 = 1 };
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), -1);
	assert_string_equal(text, "beta2 is 1 in its recipe, where it is more "
				  "than 0 and below 1");
	recipe.beta2 = .999;
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), 0);
	recipe.weight_decay = .1;
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), -1);
	assert_string_equal(text, "weight_decay is 0.1 in its recipe, which "
				  "adam does not have");
	/* What SGD and a rate that stays do not use. */
	recipe = (struct recipe){ .batch = 1, .epochs = 1,
				  .optimizer = OPTIMIZER_SGD };
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), 0);
	recipe.momentum = 1;
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), -1);
	assert_string_equal(text, "momentum is 1 in its recipe, where it is at "
				  "least 0 and below 1");
	recipe = (struct recipe){ 0 };
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), -1);
	assert_non_null(strstr(text, "batch is 0"));
}

static void rates_fall_by_epoch(void **state)
{
	static const double known[] = { 1,	 .7,	   .49,	     .343,
					.2401,	 .16807,   .117649,  .0823543,
					.0576480, .0403536 };
	struct recipe recipe = find("mnist")->recipe;

	(void)state;
	for (int i = 0; i < 70; i++)
		assert_true(fabs(recipe_rate(&recipe, i, 7) - known[i / 7]) <
			    1e-7);
	/* floor(epoch / step): it falls after each third epoch. */
	recipe = (struct recipe){ .lr = 2, .lr_step = 3, .lr_gamma = .5 };
	assert_true(recipe_rate(&recipe, 2, 1) == 2);
	assert_true(recipe_rate(&recipe, 3, 1) == 1);
	assert_true(recipe_rate(&recipe, 5, 1) == 1);
	assert_true(recipe_rate(&recipe, 6, 1) == .5);
	recipe.lr_step = 0;
	assert_true(recipe_rate(&recipe, 1000, 1) == 2);
}

/* The schedule of PyTorch/XLA's ResNet-50 test, with its 1171 iterations: at
 * i = 0, where the rise ends, and where each fall is. */
static void rates_rise_by_iteration(void **state)
{
	static const struct {
		long iteration;
		double rate;
	} known[] = {
		{ 0, .8 * 2 / (.9 * 1171) },
		{ 1, .8 * 3 / (.9 * 1171) },
		{ 1051, .8 * 1053 / (.9 * 1171) },
		{ 1052, .8 },
		{ 1170, .8 },
		{ 20 * 1171 - 1, .8 },
		{ 20 * 1171, .8 / 5 },
		{ 40 * 1171, .8 / 25 },
	};
	const struct recipe recipe = { .lr = .8, .lr_warmup = .9,
				       .lr_step = 20, .lr_gamma = .2 };

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_true(fabs(recipe_rate(&recipe, known[i].iteration,
					     1171) - known[i].rate) < 1e-12);
}

static void recipes_are_the_published_ones(void **state)
{
	const struct recipe *mnist = &find("mnist")->recipe;
	const struct recipe *example = &find("mnist-example")->recipe;

	(void)state;
	assert_int_equal(mnist->batch, 128);
	assert_int_equal(mnist->epochs, 10);
	assert_int_equal(example->batch, 64);
	assert_int_equal(example->epochs, 14);
	for (int i = 0; i < 2; i++) {
		const struct recipe *recipe = i ? example : mnist;

		assert_true(recipe->lr == 1 && recipe->rho == .9);
		assert_true(recipe->eps == 1e-6 && recipe->lr_gamma == .7);
		assert_int_equal(recipe->lr_step, 1);
	}
	for (int i = 0; i < 2; i++) {
		const struct recipe *recipe =
			&find(i ? "mnist-2019" : "xla-mnist")->recipe;

		assert_int_equal(recipe->optimizer, OPTIMIZER_SGD);
		assert_true(recipe->lr == .01 && recipe->momentum == .5);
		assert_int_equal(recipe->scale_lr, !i);
		assert_int_equal(recipe->batch, i ? 64 : 128);
		assert_int_equal(recipe_states(recipe), 1);
	}
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
		cmocka_unit_test(spoilt_rows_are_refused),
		cmocka_unit_test(spoilt_tables_are_refused),
		cmocka_unit_test(spoilt_recipes_are_refused),
		cmocka_unit_test(rates_fall_by_epoch),
		cmocka_unit_test(rates_rise_by_iteration),
		cmocka_unit_test(recipes_are_the_published_ones),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
