/* Convolutions by tiles of the OpenCL backend, against the reference. */
#include "tests/opencl_pair.h"

/*
 * Wherever vectors have up to 16 floats. Right after a convolution of images,
 * whose weights are then done with it; rows of tiles fill halves of vectors.
 */
static const struct layer tiles_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 32, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 48, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 }, /* 8 x 8 -> 4 x 4 */
	{ .kind = LAYER_DROPOUT2D, .drop = 0.4 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 21 },
	{ .kind = LAYER_LOSS },
};

static const struct model tiles_model = {
	.name = "tiles",
	.input = { 2, 11, 11 },
	.layers = tiles_layers,
	.layer_count = sizeof(tiles_layers) / sizeof(tiles_layers[0]),
};

/* After a pooled one; a column of tiles, and no plane is dropped. */
static const struct layer column_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 16, .window = 5 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = 0.3 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 16, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 }, /* 16 x 4 -> 8 x 2 */
	{ .kind = LAYER_DROPOUT, .drop = 0.25 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct model column_model = {
	.name = "column",
	.input = { 1, 40, 16 },
	.layers = column_layers,
	.layer_count = sizeof(column_layers) / sizeof(column_layers[0]),
};

/* With padding, tiles that are there in part, more outputs than a tile of sums
 * has, and a gradient that is added to another. */
static const struct layer padded_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 16, .window = 3,
	  .stride = 2, .pad = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 80, .window = 3,
	  .pad = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 16, .window = 3 },
	{ .kind = LAYER_CONV, .name = "d", .outputs = 16, .window = 3,
	  .pad = 1, .from = 4, .no_bias = 1 },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_LINEAR, .name = "e", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct model padded_model = {
	.name = "padded",
	.input = { 2, 21, 13 },
	.layers = padded_layers,
	.layer_count = sizeof(padded_layers) / sizeof(padded_layers[0]),
};

static void tiles_are_right(void **state)
{
	(void)state;
	model_is_right(&tiles_model);
}

static void columns_are_right(void **state)
{
	(void)state;
	model_is_right(&column_model);
}

static void padded_ones_are_right(void **state)
{
	const char *name;
	struct pair pair;
	int steps, found = 0;

	(void)state;
	model_is_right(&padded_model);
	pair_open(&pair, &padded_model, 1);
	for (int s = 0; (name = program_solver(pair.program, s, &steps)); s++)
		if (!strcmp(name, "padded conv by tiles"))
			found = steps;
	assert_int_equal(found, !strcmp(device_class, "cpu") &&
			 algorithm == ALGORITHM_FAST ? 3 : 0);
	pair_close(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_are_right),
		cmocka_unit_test(columns_are_right),
		cmocka_unit_test(padded_ones_are_right),
	};

	return run_classes(tests, sizeof(tests) / sizeof(tests[0]));
}
