/* Batch norm on the cpu backend: its sums, of values that cancel badly, and
 * what is done along with it. On every backend: both modes, at variances far
 * below and far above eps. */
#include "backends/cpu/kernels/kernels.h"

#include "tests/kernels/variants.h"

#define ROWS 1000
#define CHANNELS 531 /* a whole strip and a vector, and some */
#define MOST_BUILDS 8

static float x[ROWS][CHANNELS], dy[ROWS][CHANNELS];
static const struct norm_rows rows = { ROWS, CHANNELS, CHANNELS };

/* As after a dropped plane: a sum in float would be off by 1e-6 of it, which a
 * deviation of sqrt(eps) makes 3e-4 of the next gradient. */
static void equal_gradients_are_summed_well(void **state)
{
	const struct cpu_kernels *kernels = *state;
	const float mean[CHANNELS] = { 0 };
	const struct norm_map map = { mean, mean, mean };
	double sum[CHANNELS], product[CHANNELS];

	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < CHANNELS; c++) {
			x[r][c] = 1 / 3.f;
			dy[r][c] = .1f + .01f * (float)c;
		}
	kernels->elementwise->norm_sums(&rows, &map, x[0], 0, NULL, dy[0], sum,
					product);
	for (int c = 0; c < CHANNELS; c++) {
		const double right = ROWS * (double)dy[0][c];

		assert_true(fabs(sum[c] - right) <= 3e-7 * right);
		assert_true(fabs(product[c] - right * (double)x[0][c]) <=
			    4e-7 * right);
	}
}

/* Adds the rows: first some of them, then the others. */
static void assert_moments(const struct cpu_kernels *kernels, size_t some,
			   double spread)
{
	double sum[CHANNELS], square[CHANNELS];
	float shift[CHANNELS];
	struct norm_moments moments = { 0, shift, sum, square };
	const struct norm_rows first = { some, CHANNELS, CHANNELS };
	const struct norm_rows others = { ROWS - some, CHANNELS, CHANNELS };

	kernels->elementwise->add_moments(&first, x[0], &moments);
	if (others.count)
		kernels->elementwise->add_moments(&others, x[some], &moments);
	assert_int_equal(moments.rows, ROWS);
	for (int c = 0; c < CHANNELS; c++) {
		const double off = sum[c] / ROWS;
		const double variance = square[c] / ROWS - off * off;

		assert_true(fabs(off + (double)shift[c] - 1024 * (c % 19)) <=
			    1e-6);
		assert_true(fabs(variance - spread) <= 1e-6 * spread);
	}
}

static void variances_are_right_far_from_zero(void **state)
{
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < CHANNELS; c++)
			x[r][c] = (float)(1024 * (c % 19) + (r % 2 ? 1 : -1));
	assert_moments(*state, ROWS, 1);
	assert_moments(*state, 192, 1);
}

/* As at an image's edge, whose first rows are all equal. */
static void first_rows_may_be_equal(void **state)
{
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < CHANNELS; c++)
			x[r][c] = (float)(1024 * (c % 19)) +
				  (r < ROWS / 2 ? -3 : 3);
	assert_moments(*state, 192, 9);
}

static float pattern(int r, int c, int factor)
{
	return (float)((r * factor + c * 7) % 23 - 11) / 8;
}

/* Right within the roundings of a sum of ROWS values, and of a few values. */
static void assert_near(double value, double right, double scale)
{
	assert_true(fabs(value - right) <= 1e-6 * scale);
}

static float other[ROWS][CHANNELS], y[ROWS][CHANNELS], g[ROWS][CHANNELS];

/* A ReLU after batch norm, and after an addition to it: the output, the signs,
 * and the sums and the gradient of what passes. */
static void relus_are_done_along(const struct elementwise_kernels *kernels,
				 int adds)
{
	float mean[CHANNELS], scale[CHANNELS], bias[CHANNELS];
	const struct norm_map map = { mean, scale, bias };
	double sum[CHANNELS], product[CHANNELS];

	for (int c = 0; c < CHANNELS; c++) {
		mean[c] = pattern(c, 1, 3);
		scale[c] = 1.25f;
		bias[c] = pattern(c, 2, 5);
	}
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < CHANNELS; c++) {
			x[r][c] = pattern(r, c, 3);
			other[r][c] = adds ? pattern(r, c, 11) : 0;
			dy[r][c] = pattern(r, c, 13);
		}
	memcpy(g, dy, sizeof(g));
	kernels->norm(&rows, &map, x[0], adds ? other[0] : NULL, 1, y[0]);
	kernels->norm_sums(&rows, &map, x[0], 1, adds ? y[0] : NULL, g[0], sum,
			   product);
	for (int c = 0; c < CHANNELS; c++) {
		double sums = 0, products = 0;

		for (int r = 0; r < ROWS; r++) {
			const double off = (double)x[r][c] - (double)mean[c];
			const double value = off * (double)scale[c] +
					     (double)bias[c] +
					     (double)other[r][c];
			const double passed = value > 0 ? (double)dy[r][c] : 0;

			assert_near((double)y[r][c], value > 0 ? value : 0, 8);
			assert_true((double)g[r][c] ==
				    (adds ? passed : (double)dy[r][c]));
			sums += passed;
			products += passed * off;
		}
		assert_near(sum[c], sums, ROWS);
		assert_near(product[c], products, 4 * ROWS);
	}
	kernels->norm_backward(&rows, &map, x[0], !adds, g[0], bias, mean, 0,
			       g[0]);
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < CHANNELS; c++) {
			const double passed = y[r][c] > 0 ? (double)dy[r][c] :
							    0;
			const double off = (double)x[r][c] - (double)mean[c];

			assert_near((double)g[r][c], (double)scale[c] *
				    (passed - (double)bias[c] -
				     off * (double)mean[c]), 16);
		}
}

static void what_follows_is_done_along(void **state)
{
	const struct cpu_kernels *kernels = *state;

	relus_are_done_along(kernels->elementwise, 0);
	relus_are_done_along(kernels->elementwise, 1);
}

/* The convolution passes its input on, so that batch norm has a gradient by its
 * own. */
static const struct layer normed_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 3, .window = 1,
	  .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "b" },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 4 },
	{ .kind = LAYER_LOSS },
};

static const struct model normed = {
	.name = "normed", .input = { 3, 5, 7 }, .layers = normed_rows,
	.layer_count = sizeof(normed_rows) / sizeof(normed_rows[0]),
};

enum { SAMPLES = 6, CHANNELS_NORMED = 3 };

/* Of every channel: the means of these are 2 deviations from 0. */
static struct batch batch_of(double variance)
{
	struct batch batch = batch_make(&normed, 9, SAMPLES);
	float *images = (float *)batch.images;

	for (size_t i = 0; i < SAMPLES * shape_size(normed.input); i++)
		images[i] = (float)(sqrt(variance) * (2 + (double)images[i]));
	return batch;
}

/* Parameters and, at the same scale as the batch, running statistics. */
static void start_normed(struct subject *subject, double variance)
{
	float *values = allocate(model_parameter_count(&normed) *
				 sizeof(*values));
	float statistics[2 * CHANNELS_NORMED];

	model_init(&normed, 3, values);
	for (int i = 0; i < CHANNELS_NORMED * CHANNELS_NORMED; i++)
		values[i] = i % (CHANNELS_NORMED + 1) == 0;
	subject_store(subject, VECTOR_PARAMETERS, values);
	for (int c = 0; c < CHANNELS_NORMED; c++) {
		statistics[c] = (float)(2.3 * sqrt(variance));
		statistics[CHANNELS_NORMED + c] = (float)variance;
	}
	subject_store(subject, VECTOR_BUFFERS, statistics);
	free(values);
}

static void evaluations_are_near(struct pair *pair, const struct batch *batch)
{
	struct score found = { 0 }, expected = { 0 };
	struct error err;

	must(program_evaluate(pair->tried.program, batch, &found, &err), &err);
	must(program_evaluate(pair->right.program, batch, &expected, &err),
	     &err);
	assert_close("an evaluation's loss", found.loss, expected.loss,
		     1e-5 * expected.loss);
}

static void gradients_are_near(struct pair *pair, const struct batch *batch)
{
	const struct score found = subject_gradient(&pair->tried, batch);
	const struct score expected = subject_gradient(&pair->right, batch);
	float *gradient = subject_load(&pair->tried, VECTOR_GRADIENT);
	float *exact = subject_load(&pair->right, VECTOR_GRADIENT);
	float *statistics = subject_load(&pair->tried, VECTOR_BUFFERS);
	float *running = subject_load(&pair->right, VECTOR_BUFFERS);

	assert_close("the loss", found.loss, expected.loss,
		     1e-5 * expected.loss);
	assert_gradients(&normed, gradient, exact, 1e-4);
	for (int i = 0; i < 2 * CHANNELS_NORMED; i++)
		assert_close("a running statistic", statistics[i], running[i],
			     1e-5 * fabs(running[i]));
	free(gradient);
	free(exact);
	free(statistics);
	free(running);
}

static void modes_are_right_at_all_variances(void **state)
{
	static const double variances[] = { 1e-6, 1e-5, 1e-3, 1, 1e3 };

	for (size_t i = 0; i < sizeof(variances) / sizeof(*variances); i++) {
		struct batch batch = batch_of(variances[i]);
		struct pair pair;

		pair_open(&pair, *state, &normed, SAMPLES, 0);
		start_normed(&pair.tried, variances[i]);
		start_normed(&pair.right, variances[i]);
		evaluations_are_near(&pair, &batch);
		gradients_are_near(&pair, &batch);
		evaluations_are_near(&pair, &batch);
		pair_close(&pair);
		batch_free(&batch);
	}
}

static int test_builds(void)
{
	static const CMUnitTestFunction all[] = {
		equal_gradients_are_summed_well,
		variances_are_right_far_from_zero,
		first_rows_may_be_equal,
		what_follows_is_done_along,
	};
	struct CMUnitTest tests[sizeof(all) / sizeof(*all) * MOST_BUILDS];
	size_t count = 0;

	for (size_t b = 0; cpu_builds[b]; b++) {
		const int runs = cpu_builds[b]->supported();

		assert_true(b < MOST_BUILDS);
		for (size_t t = 0; t < sizeof(all) / sizeof(*all); t++)
			tests[count++] = (struct CMUnitTest){
				.name = cpu_builds[b]->name,
				.test_func = test_if(runs, all[t]),
				.initial_state = (void *)cpu_builds[b],
			};
	}
	return _cmocka_run_group_tests("norm", tests, count, NULL, NULL);
}

int main(void)
{
	static const struct check modes[] = {
		{ "both modes", modes_are_right_at_all_variances, 0 },
	};

	return test_builds() + run_variants("norm, both modes", modes, 1);
}
