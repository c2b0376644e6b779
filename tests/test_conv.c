/* Direct convolutions of the cpu backend against plain loops in double. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/kernels.h"
#include "backends/host.h"

#define MOST_BUILDS 4
#define NEAR 1e-3 /* of sums of up to 676 products of numbers below 1 */

/* Sizes that fill tiles, and that do not; outputs are not padded. */
struct conv_case {
	int height, width, channels, outputs, window, pool, relu;
};

static const struct conv_case cases[] = {
	{ 26, 26, 32, 64, 3, 2, 1 },  { 28, 28, 64, 32, 3, 1, 0 },
	{ 26, 26, 9, 32, 1, 1, 1 },   { 5, 17, 3, 5, 2, 2, 0 },
	{ 9, 8, 16, 20, 5, 1, 1 },    { 12, 31, 17, 7, 4, 3, 1 },
	{ 3, 3, 1, 1, 3, 1, 0 },      { 10, 44, 33, 50, 3, 2, 0 },
	{ 2, 16, 40, 16, 1, 2, 1 },   { 11, 20, 48, 31, 6, 2, 1 },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

struct conv_run {
	const struct conv_case *one;
	struct conv_shape shape;
	float *in, *weights, *bias, *rows, *out, *slopes, *unpooled;
	float *weight_slopes, *bias_slopes;
	uint8_t *winners;
	int slopes_row;
};

static float *values_of(size_t count)
{
	float *values = host_allocate(count * sizeof(float));

	assert_non_null(values);
	for (size_t i = 0; i < count; i++)
		values[i] = (float)(rand() % 2001 - 1000) / 1000;
	return values;
}

static int padded(int channels)
{
	return (channels + CPU_LANES - 1) / CPU_LANES * CPU_LANES;
}

/* values[pixels][stride], 0 in the padding */
static float *planes_of(int pixels, int channels, int stride)
{
	float *values = values_of((size_t)(pixels * stride));

	for (int i = 0; i < pixels * stride; i++)
		if (i % stride >= channels)
			values[i] = 0;
	return values;
}

static void run_open(struct conv_run *run, const struct conv_case *one)
{
	const int in_stride = padded(one->channels);
	const int out_stride = padded(one->outputs);
	const int taps = one->window * one->window;
	const struct conv_shape shape = {
		one->height, one->width, one->channels, in_stride,
		out_stride,  one->window, one->pool,	one->relu,
	};
	const int pixels = conv_rows(&shape) * conv_columns(&shape);
	const size_t all = (size_t)(pixels * out_stride);

	*run = (struct conv_run){ .one = one, .shape = shape };
	run->in = planes_of(one->height * one->width, one->channels,
			    in_stride);
	run->weights = planes_of(taps * one->channels, one->outputs,
				 out_stride);
	run->bias = planes_of(1, one->outputs, out_stride);
	run->rows = values_of(all);
	run->out = values_of(all);
	/* Slopes of padding may be anything. */
	run->slopes = values_of(all);
	/* A column more: rows need not follow each other. */
	run->slopes_row = (conv_columns(&shape) + 1) * out_stride;
	run->unpooled = planes_of(pixels + conv_rows(&shape), out_stride,
				  out_stride);
	/* An output more, which must stay as it is. */
	run->weight_slopes = planes_of((one->outputs + 1) * taps,
				       one->channels, in_stride);
	run->bias_slopes = values_of((size_t)out_stride);
	run->winners = host_allocate(all);
	assert_non_null(run->winners);
}

static void run_close(struct conv_run *run)
{
	float *all[] = { run->in, run->weights, run->bias, run->rows, run->out,
			 run->slopes, run->unpooled, run->weight_slopes,
			 run->bias_slopes };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
	free(run->winners);
}

/* Before pooling and ReLU. */
static double plain_pixel(const struct conv_run *run, int y, int x, int o)
{
	const struct conv_shape *shape = &run->shape;
	double sum = run->bias[o];

	for (int t = 0; t < shape->window * shape->window; t++)
		for (int c = 0; c < shape->in_channels; c++)
			sum += (double)run->in[((y + t / shape->window) *
							shape->in_width +
						x + t % shape->window) *
						       shape->in_stride +
					       c] *
			       run->weights[(t * shape->in_channels + c) *
						    shape->out_stride +
					    o];
	return sum;
}

/* The largest of a window, and that the winner is it, or as large. */
static double plain_output(const struct conv_run *run, int y, int x, int o,
			   int winner)
{
	const int pool = run->shape.pool;
	double most = -INFINITY, won = 0;

	for (int k = 0; k < pool * pool; k++) {
		const double value = plain_pixel(run, y * pool + k / pool,
						 x * pool + k % pool, o);

		most = fmax(most, value);
		if (k == winner)
			won = value;
	}
	if (pool > 1)
		assert_true(fabs(won - most) < NEAR);
	return run->shape.relu ? fmax(most, 0) : most;
}

static void compare_forward(struct conv_run *run,
			    const struct cpu_kernels *kernels)
{
	const struct conv_shape *shape = &run->shape;
	const int width = conv_columns(shape) / shape->pool;
	const int height = conv_rows(shape) / shape->pool;

	kernels->conv_forward(shape, run->in, run->weights, run->bias,
			      run->rows, run->out,
			      shape->pool > 1 ? run->winners : NULL);
	for (int i = 0; i < height * width * shape->out_stride; i++) {
		const int pixel = i / shape->out_stride;
		const double right =
			plain_output(run, pixel / width, pixel % width,
				     i % shape->out_stride, run->winners[i]);

		if (!(fabs(run->out[i] - right) < NEAR))
			fail_msg("%s: output %d is %g, not %g", kernels->name,
				 i, (double)run->out[i], right);
	}
}

/* The slope by the weights from output o to channel c at a place. */
static double plain_slope(const struct conv_run *run, int o, int place, int c)
{
	const struct conv_shape *shape = &run->shape;
	const int shift = place / shape->window * shape->in_width +
			  place % shape->window;
	double sum = 0;

	for (int y = 0; y < conv_rows(shape); y++)
		for (int x = 0; x < conv_columns(shape); x++)
			sum += (double)run->unpooled[y * run->slopes_row +
						     x * shape->out_stride +
						     o] *
			       run->in[(y * shape->in_width + x + shift) *
					       shape->in_stride +
				       c];
	return sum;
}

/* Those by the biases, and none of padding. */
static void compare_biases(const struct conv_run *run, const float *before)
{
	const struct conv_shape *shape = &run->shape;

	for (int o = 0; o < shape->out_stride; o++) {
		double right = before[o];

		for (int i = 0; o < run->one->outputs &&
				i < conv_rows(shape) * conv_columns(shape); i++)
			right += run->unpooled[i / conv_columns(shape) *
						       run->slopes_row +
					       i % conv_columns(shape) *
						       shape->out_stride +
					       o];
		assert_true(fabs(run->bias_slopes[o] - right) < NEAR);
	}
}

static void compare_weights(struct conv_run *run,
			    const struct cpu_kernels *kernels)
{
	const struct conv_shape *shape = &run->shape;
	const int taps = shape->window * shape->window;
	const int patch = taps * shape->in_stride;
	const size_t count = (size_t)((run->one->outputs + 1) * patch);
	const size_t biases = (size_t)shape->out_stride;
	float *before = values_of(count + biases);

	memcpy(before, run->weight_slopes, count * sizeof(float));
	memcpy(before + count, run->bias_slopes, biases * sizeof(float));
	kernels->conv_weights_dense(shape, run->one->outputs, run->in,
				    run->unpooled, run->slopes_row,
				    run->weight_slopes, run->bias_slopes);
	for (size_t i = 0; i < count; i++) {
		const int o = (int)i / patch, at = (int)i % patch;
		double right = before[i];

		if (o < run->one->outputs)
			right += plain_slope(run, o, at / shape->in_stride,
					     at % shape->in_stride);
		if (!(fabs(run->weight_slopes[i] - right) < NEAR))
			fail_msg("%s: slope %zu is %g, not %g", kernels->name,
				 i, (double)run->weight_slopes[i], right);
	}
	compare_biases(run, before + count);
	free(before);
}

static void compare_unpool(struct conv_run *run,
			   const struct cpu_kernels *kernels)
{
	const struct conv_shape *shape = &run->shape;
	const int pool = shape->pool, stride = shape->out_stride;
	const int width = conv_columns(shape) / pool;

	if (pool == 1)
		return;
	kernels->conv_unpool(shape, run->slopes, run->winners, run->unpooled,
			     run->slopes_row);
	for (int y = 0; y < conv_rows(shape) / pool * pool; y++)
		for (int x = 0; x < width * pool; x++)
			for (int o = 0; o < stride; o++) {
				const int at = (y / pool * width + x / pool) *
						       stride + o;
				const int k = y % pool * pool + x % pool;

				assert_true(run->unpooled[y * run->slopes_row +
							  x * stride + o] ==
					    (run->winners[at] == k ?
						     run->slopes[at] : 0));
			}
}

static void convolutions_are_right(void **build)
{
	const struct cpu_kernels *kernels = *build;
	struct conv_run run;

	if (!kernels->supported())
		skip();
	for (size_t i = 0; i < CASES; i++) {
		run_open(&run, &cases[i]);
		compare_forward(&run, kernels);
		compare_unpool(&run, kernels);
		compare_weights(&run, kernels);
		run_close(&run);
	}
}

int main(void)
{
	struct CMUnitTest tests[MOST_BUILDS];
	size_t count = 0;

	for (size_t b = 0; cpu_builds[b]; b++)
		tests[count++] = (struct CMUnitTest){
			.name = cpu_builds[b]->name,
			.test_func = convolutions_are_right,
			.initial_state = (void *)cpu_builds[b],
		};
	return _cmocka_run_group_tests("conv", tests, count, NULL, NULL);
}
