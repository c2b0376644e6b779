/* Convolutions by tiles of the OpenCL backend, against the reference. */
#include <CL/cl.h>
#include <unistd.h>

#include "backends/opencl/device/device.h"
#include "tests/kernels/opencl_pair.h"
#include "tests/kernels/patience.h"

#define PADDED "padded conv by tiles"
#define SECONDS 20 /* that a thread of the driver may take to release */

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

/* By seven points a side: a window of 4, and one of 3 in tiles of 5x5 outputs,
 * whose gradient is added to another. */
static const struct layer seven_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 16, .window = 3,
	  .stride = 2, .pad = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 80, .window = 4,
	  .pad = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 80, .window = 3,
	  .pad = 1 },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct model seven_model = {
	.name = "seven",
	.input = { 2, 18, 15 },
	.layers = seven_layers,
	.layer_count = sizeof(seven_layers) / sizeof(seven_layers[0]),
};

/* First layers of a stride, which fold to windows of 3, 4 and 5; of planes
 * whose edges no window reaches, or that have padding on all sides. */
static const struct layer folded_first[] = {
	{ .kind = LAYER_CONV, .window = 11, .stride = 4, .pad = 2 },
	{ .kind = LAYER_CONV, .window = 7, .stride = 2, .pad = 3 },
	{ .kind = LAYER_CONV, .window = 9, .stride = 2, .pad = 4 },
	{ .kind = LAYER_CONV, .window = 10, .stride = 3, .pad = 1 },
};

static void assert_tiled(const struct model *model, const char *solver,
			 int expected)
{
	const char *name;
	struct pair pair;
	int steps, found = 0;

	pair_open(&pair, model, 1);
	for (int s = 0; (name = program_solver(pair.program, s, &steps)); s++)
		if (!strcmp(name, solver))
			found += steps;
	assert_int_equal(found, expected);
	pair_close(&pair);
}

static void tiles_are_right(void **state)
{
	(void)state;
	model_is_right(&tiles_model);
	assert_tiled(&tiles_model, "conv by tiles", 1);
}

static void columns_are_right(void **state)
{
	(void)state;
	model_is_right(&column_model);
	assert_tiled(&column_model, "conv by tiles", 1);
}

static void padded_ones_are_right(void **state)
{
	(void)state;
	model_is_right(&padded_model);
	assert_tiled(&padded_model, PADDED, 3);
}

static void seven_points_are_right(void **state)
{
	(void)state;
	model_is_right(&seven_model);
	assert_tiled(&seven_model, PADDED, 2);
}

/* And after it a window of 5. */
static void folded_is_right(const struct layer *first)
{
	struct layer rows[] = {
		*first,
		{ .kind = LAYER_RELU },
		{ .kind = LAYER_CONV, .name = "b", .outputs = 80, .window = 5,
		  .pad = 2 },
		{ .kind = LAYER_LINEAR, .name = "c", .outputs = 5 },
		{ .kind = LAYER_LOSS },
	};
	const struct model model = {
		.name = "folded", .input = { 3, 43, 38 }, .layers = rows,
		.layer_count = sizeof(rows) / sizeof(rows[0]),
	};

	rows[0].name = "a";
	rows[0].outputs = 32;
	model_is_right(&model);
	assert_tiled(&model, PADDED, 2);
}

static void folded_ones_are_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(folded_first) / sizeof(*folded_first);
	     i++)
		folded_is_right(&folded_first[i]);
}

/* Queues, buffers, programs and their kernels hold the context they are in. */
static cl_uint references(void)
{
	const struct opencl_device *opencl =
		(const struct opencl_device *)(const void *)device;
	cl_uint count = 0;

	assert_int_equal(clGetContextInfo(opencl->context,
					  CL_CONTEXT_REFERENCE_COUNT,
					  sizeof(count), &count, NULL), 0);
	return count;
}

/* Only the device itself holds its context. The driver's threads release what
 * they ran after the call that waited for it has returned. */
static void objects_are_released(void **state)
{
	const double begin = patience_now();
	struct pair pair;

	(void)state;
	pair_open(&pair, &tiles_model, 1);
	expect_gradient(&pair);
	expect_evaluation(&pair);
	assert_true(references() > 1);
	pair_close(&pair);
	while (references() > 1 && patience_now() < begin + SECONDS)
		usleep(1000);
	assert_int_equal(references(), 1);
}

/* Dense, and the class of GPUs. */
static void others_have_no_tiles(void **state)
{
	static const struct layer layers[] = {
		{ .kind = LAYER_CONV, .name = "a", .outputs = 16, .window = 1 },
		{ .kind = LAYER_CONV, .name = "b", .outputs = 80, .window = 3,
		  .pad = 1 },
		{ .kind = LAYER_LOSS },
	};
	static const struct model model = {
		.name = "padded alone", .input = { 1, 12, 12 },
		.layers = layers, .layer_count = 3,
	};

	(void)state;
	assert_tiled(&model, PADDED,
		     !strcmp(device_class, "cpu") &&
			     algorithm == ALGORITHM_FAST);
}

int main(void)
{
	const struct CMUnitTest everywhere[] = {
		cmocka_unit_test(objects_are_released),
		cmocka_unit_test(others_have_no_tiles),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_are_right),
		cmocka_unit_test(columns_are_right),
		cmocka_unit_test(padded_ones_are_right),
		cmocka_unit_test(seven_points_are_right),
		cmocka_unit_test(folded_ones_are_right),
	};

	compile_plainly();
	return run_class("cpu", ALGORITHM_FAST, tests,
			 sizeof(tests) / sizeof(tests[0])) +
	       run_classes(everywhere,
			   sizeof(everywhere) / sizeof(everywhere[0]));
}
