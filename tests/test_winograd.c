/* Convolutions by Winograd's algorithm of more tiles than a group has, and of
 * images that have many channels, against OpenBLAS in double; and which ones it
 * declines. */
#include "tests/subject.h"
#include "tests/variants.h"

enum { SAMPLES = 7 };

/* Weights that are kept, and others that are not; tiles of 5x5, 3x3 and 4x4
 * outputs, of planes of 30x29, 28x27 and again 28x27. */
static const struct layer large_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 70, .window = 3,
	  .pad = 1 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 160, .window = 5,
	  .pad = 1 },
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

/* A convolution of channels, side x side, to outputs. */
struct small_conv {
	const char *why;
	int channels, outputs, side, window, stride, pad;
	enum algorithm algorithm;
};

/* Steps that Winograd's algorithm computes. */
static int winograd_steps(const struct small_conv *conv)
{
	const struct layer rows[] = {
		{ .kind = LAYER_CONV, .name = "a",
		  .outputs = conv->outputs, .window = conv->window,
		  .stride = conv->stride, .pad = conv->pad },
		{ .kind = LAYER_LINEAR, .name = "b", .outputs = 5 },
		{ .kind = LAYER_LOSS },
	};
	const struct model model = {
		.name = "small", .layers = rows, .layer_count = 3,
		.input = { conv->channels, conv->side,
			   conv->side },
	};
	const struct program_options options = {
		.batch = SAMPLES, .test_batch = 1,
		.algorithm = conv->algorithm,
	};
	struct subject subject;
	const char *name;
	int steps, found = 0;

	subject_open(&subject, "cpu", &model, &options);
	for (int s = 0; (name = program_solver(subject.program, s, &steps));
	     s++)
		if (strstr(name, "winograd"))
			found += steps;
	subject_close(&subject);
	return found;
}

static void others_are_declined(void **state)
{
	static const struct small_conv all[] = {
		{ "a stride", 16, 16, 24, 3, 2, 1, 0 },
		{ "a window of 4", 16, 16, 24, 4, 1, 1, 0 },
		{ "a window of 7", 16, 16, 24, 7, 1, 3, 0 },
		{ "a window of 1", 16, 16, 24, 1, 1, 0, 0 },
		{ "padding by a window", 16, 16, 24, 3, 1, 3, 0 },
		{ "few channels", 15, 16, 24, 3, 1, 1, 0 },
		{ "few outputs", 16, 15, 24, 3, 1, 1, 0 },
		{ "one pixel", 16, 16, 1, 5, 1, 2, 0 },
		{ "every multiplication", 16, 16, 24, 3, 1, 1,
		  ALGORITHM_DENSE },
	};
	static const struct small_conv taken[] = {
		{ "3x3", 16, 16, 24, 3, 1, 1, 0 },
		{ "5x5", 17, 33, 24, 5, 1, 4, 0 },
	};

	variant_choose(*state);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (winograd_steps(&all[i]))
			fail_msg("%s is taken", all[i].why);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (winograd_steps(&taken[i]) != 1)
			fail_msg("%s is declined", taken[i].why);
}

static int is_cpu(const struct variant *variant)
{
	return !strcmp(variant->backend, "cpu");
}

int main(void)
{
	static const struct check checks[] = {
		{ "many tiles", many_tiles_are_right, 0 },
		{ "others", others_are_declined, 0 },
	};

	return run_some_variants("winograd", checks, 2, is_cpu);
}
