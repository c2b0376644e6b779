/*
 * For tests: a convolution of one sample, what it needs both ways, and what it
 * should compute, in plain loops in double.
 */
#ifndef TESTS_CONV_RUN_H
#define TESTS_CONV_RUN_H

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

#define NEAR 1e-3 /* of sums of up to 1116 products of numbers below 1 */

/* Outputs are not padded. */
struct conv_case {
	int height, width, channels, outputs, window, pool, relu;
};

struct conv_run {
	const struct conv_case *one;
	struct conv_shape shape;
	float *in, *weights, *bias, *rows, *out, *slopes, *unpooled;
	float *turned; /* weights[output][row][column][in_stride] */
	float *weight_slopes, *bias_slopes, *in_slopes;
	uint8_t *winners; /* with pooling */
	int slopes_row;	  /* floats of a row of unpooled */
};

static inline float *values_of(size_t count)
{
	float *values = host_allocate(count * sizeof(float));

	assert_non_null(values);
	for (size_t i = 0; i < count; i++)
		values[i] = (float)(rand() % 2001 - 1000) / 1000;
	return values;
}

static inline int padded(int channels)
{
	return (channels + CPU_LANES - 1) / CPU_LANES * CPU_LANES;
}

/* values[pixels][stride], 0 in the padding */
static inline float *planes_of(int pixels, int channels, int stride)
{
	float *values = values_of((size_t)(pixels * stride));

	for (int i = 0; i < pixels * stride; i++)
		if (i % stride >= channels)
			values[i] = 0;
	return values;
}

static inline size_t in_size(const struct conv_run *run)
{
	return (size_t)(run->shape.in_height * run->shape.in_width *
			run->shape.in_stride);
}

static inline size_t unpooled_size(const struct conv_run *run)
{
	return (size_t)(conv_rows(&run->shape) * run->slopes_row);
}

static inline void run_open(struct conv_run *run, const struct conv_case *one)
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
	/* Slopes of padding may be anything; some are stopped. */
	run->slopes = values_of(all);
	for (size_t i = 0; i < all; i++)
		if (rand() % 3 == 0)
			run->slopes[i] = 0;
	/* A column more: rows need not follow each other. */
	run->slopes_row = (conv_columns(&shape) + 1) * out_stride;
	run->unpooled = planes_of(pixels + conv_rows(&shape), out_stride,
				  out_stride);
	/* An output more, which must stay as it is. */
	run->weight_slopes = planes_of((one->outputs + 1) * taps,
				       one->channels, in_stride);
	run->bias_slopes = values_of((size_t)out_stride);
	run->turned = planes_of(one->outputs * taps, one->channels, in_stride);
	run->in_slopes = host_allocate(in_size(run) * sizeof(float));
	assert_non_null(run->in_slopes);
	run->winners = host_allocate(all);
	assert_non_null(run->winners);
}

static inline void run_close(struct conv_run *run)
{
	float *all[] = { run->in, run->weights, run->bias, run->rows, run->out,
			 run->slopes, run->unpooled, run->turned,
			 run->weight_slopes, run->bias_slopes,
			 run->in_slopes };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
	free(run->winners);
}

/* Before pooling and ReLU. */
static inline double plain_pixel(const struct conv_run *run, int y, int x,
				 int o)
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

/* As the kernels take them. */
static inline const uint8_t *winners_of(const struct conv_run *run)
{
	return run->shape.pool > 1 ? run->winners : NULL;
}

/* The place in its window that won; without pooling there is one. */
static inline int winner_of(const struct conv_run *run, int output)
{
	return run->shape.pool > 1 ? run->winners[output] : 0;
}

/* The largest of a window, and that the winner is it, or as large. */
static inline double plain_output(const struct conv_run *run, int y, int x,
				  int o, int winner)
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
	assert_true(fabs(won - most) < NEAR);
	return run->shape.relu ? fmax(most, 0) : most;
}

/* The slope by the weights from output o to channel c at a place. */
static inline double plain_slope(const struct conv_run *run, int o, int place,
				 int c)
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

/* Pixels in no window are left as they are. */
static inline void plain_unpool(const struct conv_run *run, float *unpooled)
{
	const struct conv_shape *shape = &run->shape;
	const int pool = shape->pool, stride = shape->out_stride;
	const int width = conv_columns(shape) / pool;

	for (int y = 0; y < conv_rows(shape) / pool * pool; y++)
		for (int x = 0; x < width * pool; x++)
			for (int o = 0; o < stride; o++) {
				const int at = (y / pool * width + x / pool) *
						       stride + o;
				const int k = y % pool * pool + x % pool;

				unpooled[y * run->slopes_row + x * stride + o] =
					winner_of(run, at) == k ?
						run->slopes[at] : 0;
			}
}

/* Adds those by the inputs under the window at an output pixel. */
static inline void plain_in_slopes(const struct conv_run *run, int y, int x,
				   int o, double *in_slopes)
{
	const struct conv_shape *shape = &run->shape;
	const int stride = shape->in_stride, window = shape->window;
	const double slope = run->unpooled[y * run->slopes_row +
					   x * shape->out_stride + o];

	for (int t = 0; slope != 0 && t < window * window; t++)
		for (int c = 0; c < stride; c++)
			in_slopes[((y + t / window) * shape->in_width + x +
				   t % window) * stride + c] +=
				slope * run->turned[(o * window * window + t) *
							    stride + c];
}

#endif
