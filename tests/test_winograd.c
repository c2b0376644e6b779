/* Convolutions by Winograd's algorithm of more tiles than a group has, and of
 * images that have many channels, against OpenBLAS in double. */
#include "tests/subject.h"
#include "tests/variants.h"

enum { SAMPLES = 7 };

/* Weights that are kept, on planes as large, and others that are not. */
static const struct layer large_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 70, .window = 3,
	  .pad = 1 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 160, .window = 5,
	  .pad = 2 },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 150, .window = 3,
	  .pad = 1 },
	{ .kind = LAYER_CONV, .name = "d", .outputs = 8, .window = 3,
	  .stride = 4 },
	{ .kind = LAYER_LINEAR, .name = "e", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct model large = {
	.name = "large", .input = { 20, 30, 29 }, .layers = large_rows,
	.layer_count = sizeof(large_rows) / sizeof(large_rows[0]),
};

static void open_both(struct subject *tried, struct subject *right,
		      int samples)
{
	const struct program_options options = {
		.batch = samples, .test_batch = 3 * samples, .seed = SEED,
	};
	struct program_options exact = options;
	float *parameters;

	exact.precision = PRECISION_FP64;
	subject_open(tried, "cpu", &large, &options);
	subject_open(right, "openblas", &large, &exact);
	subject_start(tried, 3);
	parameters = subject_load(tried, VECTOR_PARAMETERS);
	subject_start(right, 3);
	subject_store(right, VECTOR_PARAMETERS, parameters);
	free(parameters);
}

static void gradients_are_near(struct subject *tried, struct subject *right,
			       const struct batch *batch)
{
	const struct score found = subject_gradient(tried, batch);
	const struct score score = subject_gradient(right, batch);
	float *gradient, *expected;

	assert_close("the loss", found.loss, score.loss, 1e-5 * score.loss);
	gradient = subject_load(tried, VECTOR_GRADIENT);
	expected = subject_load(right, VECTOR_GRADIENT);
	assert_tensors(&large, "the gradient", gradient, expected, 1e-5);
	free(gradient);
	free(expected);
}

/* Of more samples than a gradient has. */
static void evaluations_are_near(struct subject *tried, struct subject *right)
{
	struct batch batch = batch_make(&large, 6, 3 * SAMPLES);
	struct score found = { 0 }, score = { 0 };
	struct error err;

	must(program_evaluate(tried->program, &batch, &found, &err), &err);
	must(program_evaluate(right->program, &batch, &score, &err), &err);
	assert_close("the loss", found.loss, score.loss, 1e-5 * score.loss);
	batch_free(&batch);
}

static void many_tiles_are_right(void **state)
{
	struct batch batch = batch_make(&large, 5, SAMPLES);
	struct batch few = batch_make(&large, 8, 2);
	struct subject tried, right;

	variant_choose(*state);
	open_both(&tried, &right, SAMPLES);
	gradients_are_near(&tried, &right, &batch);
	gradients_are_near(&tried, &right, &few);
	evaluations_are_near(&tried, &right);
	subject_close(&tried);
	subject_close(&right);
	batch_free(&batch);
	batch_free(&few);
}

static int is_cpu(const struct variant *variant)
{
	return !strcmp(variant->backend, "cpu");
}

int main(void)
{
	static const struct check checks[] = {
		{ "many tiles", many_tiles_are_right, 0 },
	};

	return run_some_variants("winograd", checks, 1, is_cpu);
}
