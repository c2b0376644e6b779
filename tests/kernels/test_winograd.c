/* Convolutions by Winograd's algorithm of more tiles than a group has, of
 * images that have many channels, and of folded ones, against OpenBLAS in
 * double; and which ones it declines. */
#include "backends/cpu/isa.h"
#include "tests/kernels/skipping.h"
#include "tests/kernels/subject.h"
#include "tests/kernels/variants.h"

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

/* First layers of a stride, which fold to windows of 3, 4 and 5; of planes
 * whose edges no window reaches, or that have padding on all sides. */
static const struct layer folded_first[] = {
	{ .kind = LAYER_CONV, .window = 11, .stride = 4, .pad = 2 },
	{ .kind = LAYER_CONV, .window = 7, .stride = 2, .pad = 3 },
	{ .kind = LAYER_CONV, .window = 8, .stride = 2 },
	{ .kind = LAYER_CONV, .window = 9, .stride = 2, .pad = 4 },
	{ .kind = LAYER_CONV, .window = 9, .stride = 3, .pad = 1 },
};

static void open_both(struct subject *tried, struct subject *right,
		      const struct model *model, int samples)
{
	const struct program_options options = {
		.batch = samples, .test_batch = 3 * samples, .seed = SEED,
	};
	struct program_options exact = options;
	float *parameters;

	exact.precision = PRECISION_FP64;
	subject_open(tried, "cpu", model, &options);
	subject_open(right, "openblas", model, &exact);
	subject_start(tried, 3);
	parameters = subject_load(tried, VECTOR_PARAMETERS);
	subject_start(right, 3);
	subject_store(right, VECTOR_PARAMETERS, parameters);
	free(parameters);
}

static void gradients_are_near(struct subject *tried, struct subject *right,
			       const struct model *model,
			       const struct batch *batch)
{
	const struct score found = subject_gradient(tried, batch);
	const struct score score = subject_gradient(right, batch);
	float *gradient, *expected;

	assert_close("the loss", found.loss, score.loss, 1e-5 * score.loss);
	gradient = subject_load(tried, VECTOR_GRADIENT);
	expected = subject_load(right, VECTOR_GRADIENT);
	assert_tensors(model, "the gradient", gradient, expected, 1e-5);
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
	open_both(&tried, &right, &large, SAMPLES);
	gradients_are_near(&tried, &right, &large, &batch);
	gradients_are_near(&tried, &right, &large, &few);
	evaluations_are_near(&tried, &right);
	subject_close(&tried);
	subject_close(&right);
	batch_free(&batch);
	batch_free(&few);
}

/* Steps that Winograd's algorithm computes. */
static int count_winograd(const struct program *program)
{
	const char *name;
	int steps, found = 0;

	for (int s = 0; (name = program_solver(program, s, &steps)); s++)
		if (strstr(name, "winograd"))
			found += steps;
	return found;
}

/* And after it a window of 4. */
static void folded_is_right(const struct layer *first)
{
	struct layer rows[] = {
		*first, { .kind = LAYER_RELU },
		{ .kind = LAYER_CONV, .name = "b", .outputs = 20, .window = 4,
		  .pad = 2 },
		{ .kind = LAYER_LINEAR, .name = "c", .outputs = 5 },
		{ .kind = LAYER_LOSS },
	};
	const struct model model = {
		.name = "folded", .input = { 3, 61, 58 }, .layers = rows,
		.layer_count = sizeof(rows) / sizeof(rows[0]),
	};
	const struct update update = { .lr = .1, .rho = .9, .eps = 1e-6 };
	struct batch batch = batch_make(&model, 5, SAMPLES);
	struct subject tried, right;

	rows[0].name = "a";
	rows[0].outputs = 30;
	open_both(&tried, &right, &model, SAMPLES);
	assert_int_equal(count_winograd(tried.program), 2);
	/* What a folded window has too much stays 0 in an update. */
	gradients_are_near(&tried, &right, &model, &batch);
	subject_update(&tried, &update);
	subject_update(&right, &update);
	gradients_are_near(&tried, &right, &model, &batch);
	subject_close(&tried);
	subject_close(&right);
	batch_free(&batch);
}

static void folded_are_right(void **state)
{
	variant_choose(*state);
	for (size_t i = 0; i < sizeof(folded_first) / sizeof(*folded_first);
	     i++)
		folded_is_right(&folded_first[i]);
}

/* A convolution of channels, side x side, to outputs. */
struct small_conv {
	const char *why;
	int channels, outputs, side, window, stride, pad;
	enum algorithm algorithm;
};

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
	int found;

	subject_open(&subject, "cpu", &model, &options);
	found = count_winograd(subject.program);
	subject_close(&subject);
	return found;
}

static void others_are_declined(void **state)
{
	static const struct small_conv all[] = {
		{ "a stride", 16, 16, 24, 3, 2, 1, 0 },
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
		{ "4x4", 16, 16, 24, 4, 1, 1, 0 },
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

/* Channels that are worth rounding; tiles past the edge, padding and none,
 * blocks that are full and one that is not, an addition. */
static const struct layer wide_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 150, .window = 3,
	  .pad = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 150, .window = 3,
	  .pad = 1 },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 64, .window = 3 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct model wide = {
	.name = "wide", .input = { 65, 15, 18 }, .layers = wide_rows,
	.layer_count = sizeof(wide_rows) / sizeof(wide_rows[0]),
};

static struct score infer(const char *backend, enum precision precision,
			  const float *parameters)
{
	const struct program_options options = {
		.batch = SAMPLES, .test_batch = 3 * SAMPLES, .seed = SEED,
		.precision = precision, .infers = 1,
	};
	struct batch batch = batch_make(&wide, 6, 3 * SAMPLES);
	struct score score = { 0 };
	struct subject subject;
	struct error err;

	subject_open(&subject, backend, &wide, &options);
	subject_start(&subject, 3);
	subject_store(&subject, VECTOR_PARAMETERS, parameters);
	must(program_evaluate(subject.program, &batch, &score, &err), &err);
	subject_close(&subject);
	batch_free(&batch);
	return score;
}

/* In inference points are rounded: the loss is as near as that makes it, and no
 * nearer. */
static void rounded_are_near(void **state)
{
	const struct program_options options = { .batch = 1, .test_batch = 1,
						 .seed = SEED };
	struct subject subject;
	struct score found, score;
	float *parameters;

	(void)state;
	subject_open(&subject, "cpu", &wide, &options);
	subject_start(&subject, 3);
	parameters = subject_load(&subject, VECTOR_PARAMETERS);
	subject_close(&subject);
	found = infer("cpu", PRECISION_BF16, parameters);
	score = infer("openblas", PRECISION_FP64, parameters);
	assert_close("the loss", found.loss, score.loss, 1e-3 * score.loss);
	assert_true(fabs(found.loss - score.loss) > 1e-5 * score.loss);
	free(parameters);
}

static int is_cpu(const struct variant *variant)
{
	return !strcmp(variant->backend, "cpu");
}

int main(void)
{
	static const struct check checks[] = {
		{ "many tiles", many_tiles_are_right, 0 },
		{ "folded", folded_are_right, 0 },
		{ "others", others_are_declined, 0 },
	};
	struct error err;
	const struct cpu_kernels *kernels = cpu_choose_kernels(&err);
	const struct CMUnitTest rounded[] = {
		{ .name = "rounded",
		  .test_func = test_if(kernels && cpu_bf16_products(kernels),
				       rounded_are_near) },
	};
	const int failed = _cmocka_run_group_tests("winograd, bf16", rounded, 1,
						   NULL, NULL);

	return run_some_variants("winograd", checks, 3, is_cpu) + failed;
}
