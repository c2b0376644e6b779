/* Layers as loops over one sample, with planes [channel][row][column]; batch
 * norm over a whole batch. */
#ifndef BACKENDS_OPENBLAS_LAYERS_H
#define BACKENDS_OPENBLAS_LAYERS_H

#include <math.h>
#include <string.h>

#include "backends/host/host.h"
#include "backends/host/real.h"

/* Windows along a side whose pixel k lies in the input. */
struct inside {
	int from, to;
};

static inline struct inside find_inside(const struct layer *layer, int k,
					int side, int windows)
{
	const int stride = layer_stride(layer), first = k - layer->pad;
	struct inside inside = { 0, 0 };

	if (first < 0)
		inside.from = (stride - 1 - first) / stride;
	if (first < side)
		inside.to = (side - 1 - first) / stride + 1;
	if (inside.to > windows)
		inside.to = windows;
	if (inside.from > inside.to)
		inside.from = inside.to;
	return inside;
}

/* Copies every stride-th value of x, from index first on, which may be
 * negative; zeros in the padding. */
static inline void copy_row(const real *x, int first, int stride,
			    struct inside inside, int windows, real *to)
{
	if (stride == 1 && inside.to - inside.from == windows) {
		memcpy(to, x + first, (size_t)windows * sizeof(*to));
		return;
	}
	for (int i = 0; i < inside.from; i++)
		to[i] = 0;
	for (int i = inside.from; i < inside.to; i++)
		to[i] = x[first + i * stride];
	for (int i = inside.to; i < windows; i++)
		to[i] = 0;
}

static inline void add_row(const real *from, int first, int stride,
			   struct inside inside, real *x)
{
	if (stride == 1)
		for (int i = inside.from; i < inside.to; i++)
			x[first + i] += from[i];
	else
		for (int i = inside.from; i < inside.to; i++)
			x[first + i * stride] += from[i];
}

/* Copies the pixels of a plane under pixel i, j of each window. */
static inline void copy_plane(const struct node *node, const real *x, int i,
			      int j, real *to)
{
	const struct layer *layer = node->layer;
	const struct shape in = node->in, out = node->out;
	const int stride = layer_stride(layer), pad = layer->pad;
	const struct inside across = find_inside(layer, j, in.width, out.width);
	const struct inside down = find_inside(layer, i, in.height, out.height);
	const size_t row = (size_t)out.width * sizeof(*to);

	memset(to, 0, (size_t)down.from * row);
	for (int y = down.from; y < down.to; y++)
		copy_row(x + (y * stride + i - pad) * in.width, j - pad, stride,
			 across, out.width, to + y * out.width);
	memset(to + down.to * out.width, 0,
	       (size_t)(out.height - down.to) * row);
}

/* columns[channel][row][column of the window][pixel of the output] */
static void im2col(const struct node *node, const real *x, real *columns)
{
	const int window = node->layer->window;

	for (int c = 0; c < node->in.channels; c++) {
		for (int k = 0; k < window * window; k++) {
			copy_plane(node, x, k / window, k % window, columns);
			columns += node->out.height * node->out.width;
		}
		x += node->in.height * node->in.width;
	}
}

/* Adds columns back to their pixels. */
static void col2im(const struct node *node, const real *columns, real *x)
{
	const struct layer *layer = node->layer;
	const struct shape in = node->in, out = node->out;
	const int stride = layer_stride(layer), pad = layer->pad;

	for (int c = 0; c < in.channels; c++, x += in.height * in.width)
		for (int i = 0; i < layer->window; i++)
			for (int j = 0; j < layer->window; j++) {
				const struct inside across = find_inside(
					layer, j, in.width, out.width);
				const struct inside down = find_inside(
					layer, i, in.height, out.height);

				for (int y = down.from; y < down.to; y++)
					add_row(columns + y * out.width,
						j - pad, stride, across,
						x + (y * stride + i - pad) *
							    in.width);
				columns += out.height * out.width;
			}
}

static inline double largest(const real *x, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, fabs((double)x[i]));
	return most;
}

static inline void worsen(double *regret, double difference, double scale)
{
	if (scale > 0 && difference / scale > *regret)
		*regret = difference / scale;
}

/*
 * Applies ReLU in place; passes[i] is 0 where the input is 0 or below, else 1.
 */
static void relu(real *restrict x, size_t count, uint8_t *restrict passes)
{
	/* A NaN passes: it must reach the loss, where it is noticed. */
	for (size_t i = 0; i < count; i++) {
		passes[i] = !(x[i] <= 0);
		x[i] = x[i] <= 0 ? 0 : x[i];
	}
}

/* Does the same with imposed decisions. */
static void relu_follow(real *x, size_t count, const uint8_t *imposed,
			uint8_t *passes, double *regret)
{
	const double scale = largest(x, count);

	for (size_t i = 0; i < count; i++) {
		const int own = !(x[i] <= 0);

		passes[i] = imposed[i] == DECISION_ANY ? (uint8_t)own :
							 imposed[i];
		if (passes[i] != own)
			worsen(regret, fabs((double)x[i]), scale);
		x[i] = passes[i] || isnan(x[i]) ? x[i] : 0;
	}
}

static void relu_backward(real *dy, size_t count, const uint8_t *passes)
{
	for (size_t i = 0; i < count; i++)
		dy[i] = passes[i] ? dy[i] : 0;
}

/* Applies dropout in place, forward or backward; each choice covers span
 * values. */
static void dropout(real *x, size_t choices, size_t span, const uint8_t *keep,
		    double drop)
{
	const real scale = (real)(1 / (1 - drop));

	for (size_t i = 0; i < choices; i++)
		for (size_t j = 0; j < span; j++)
			x[i * span + j] *= keep[i] ? scale : 0;
}

/* A pooling window: its first pixel, which may lie outside the plane, and its
 * part inside the plane. */
struct plane_window {
	int row, column;
	/* rows and columns of the window, from and to */
	int top, bottom, left, right;
};

static inline struct plane_window window_at(const struct node *node, int y,
					    int x)
{
	const struct layer *layer = node->layer;
	const int side = layer->window, stride = layer_stride(layer);
	const int row = y * stride - layer->pad;
	const int column = x * stride - layer->pad;

	return (struct plane_window){
		row, column, row < 0 ? -row : 0,
		row + side > node->in.height ? node->in.height - row : side,
		column < 0 ? -column : 0,
		column + side > node->in.width ? node->in.width - column : side,
	};
}

/* Finds the maximum and its place; the first of equals wins, and a NaN. */
static inline void window_maximum(const real *plane, int width, int side,
				  struct plane_window at, real *out,
				  uint8_t *winner)
{
	int best = at.top * side + at.left;
	real top = plane[(at.row + at.top) * width + at.column + at.left];

	for (int r = at.top; r < at.bottom; r++)
		for (int c = at.left; c < at.right; c++) {
			const real value = plane[(at.row + r) * width +
						 at.column + c];
			const int wins = (value > top) | (value != value);

			top = wins ? value : top;
			best = wins ? r * side + c : best;
		}
	*out = top;
	*winner = (uint8_t)best;
}

/* Finds the maxima of a row of 2x2 windows side by side, as most networks have
 * them, without a branch, so that it vectorizes. */
static inline void pairs_maximum(const real *restrict above,
				 const real *restrict below, int count,
				 real *restrict y, uint8_t *restrict winners)
{
	for (int i = 0; i < count; i++) {
		const real values[4] = { above[2 * i], above[2 * i + 1],
					 below[2 * i], below[2 * i + 1] };
		real top = values[0];
		int best = 0;

		for (int k = 1; k < 4; k++) {
			const int wins = (values[k] > top) |
					 (values[k] != values[k]);

			top = wins ? values[k] : top;
			best = wins ? k : best;
		}
		y[i] = top;
		winners[i] = (uint8_t)best;
	}
}

static void maxpool(const struct node *node, const real *x, real *y,
		    uint8_t *winners)
{
	const struct shape in = node->in, out = node->out;
	const struct layer *layer = node->layer;
	const int in_pairs = layer->window == 2 && layer_stride(layer) == 2 &&
			     !layer->pad;

	for (int c = 0; c < in.channels; c++, x += in.height * in.width)
		for (int i = 0; i < out.height; i++) {
			const real *above = x + 2 * i * in.width;

			if (in_pairs)
				pairs_maximum(above, above + in.width,
					      out.width, y, winners);
			for (int j = 0; !in_pairs && j < out.width; j++)
				window_maximum(x, in.width, layer->window,
					       window_at(node, i, j), &y[j],
					       &winners[j]);
			y += out.width;
			winners += out.width;
		}
}

/* Replaces maxpool()'s winners by the imposed ones, if they lie within their
 * windows. */
static void maxpool_follow(const struct node *node, const real *x, real *y,
			   const uint8_t *imposed, uint8_t *winners,
			   double *regret)
{
	const struct shape in = node->in, out = node->out;
	const int side = node->layer->window, pixels = out.height * out.width;
	const double scale = largest(x, shape_size(in));

	for (int at = 0; at < out.channels * pixels; at++) {
		const struct plane_window window = window_at(
			node, at % pixels / out.width, at % out.width);
		const int row = imposed[at] / side, column = imposed[at] % side;
		const real *plane = x + at / pixels * (in.height * in.width);

		if (imposed[at] == DECISION_ANY)
			continue;
		if (row < window.top || row >= window.bottom ||
		    column < window.left || column >= window.right) {
			*regret = INFINITY;
			continue;
		}
		winners[at] = imposed[at];
		plane += (window.row + row) * in.width + window.column + column;
		worsen(regret, (double)y[at] - (double)*plane, scale);
		y[at] = *plane;
	}
}

/* Adds to dx. */
static void maxpool_backward(const struct node *node, const real *dy,
			     const uint8_t *winners, real *dx)
{
	const struct shape in = node->in, out = node->out;
	const int stride = layer_stride(node->layer);
	const int side = node->layer->window, pad = node->layer->pad;
	int offsets[MODEL_MAX_WINDOW * MODEL_MAX_WINDOW];

	for (int k = 0; k < side * side; k++)
		offsets[k] = k / side * in.width + k % side;
	for (int c = 0; c < in.channels; c++, dx += in.height * in.width)
		for (int i = 0; i < out.height; i++)
			for (int j = 0; j < out.width; j++)
				dx[(i * stride - pad) * in.width + j * stride -
				   pad + offsets[*winners++]] += *dy++;
}

/* Returns the inputs whose mean is output i of a side. */
static inline struct inside share_of(int i, int in, int out)
{
	return (struct inside){ i * in / out, ((i + 1) * in + out - 1) / out };
}

/*
 * Returns the sum of count neighbours: SUMMED values at a time, then doubles.
 */
static inline double sum_of(const real *x, size_t count)
{
	enum { APART = 16, SUMMED = 64 * APART };
	double sum = 0;

	while (count) {
		const size_t some = count < SUMMED ? count : SUMMED;
		real sums[APART] = { 0 };
		size_t i = 0;

		for (; i + APART <= some; i += APART)
			for (int k = 0; k < APART; k++)
				sums[k] += x[i + (size_t)k];
		for (; i < some; i++)
			sum += (double)x[i];
		for (int k = 0; k < APART; k++)
			sum += (double)sums[k];
		x += some;
		count -= some;
	}
	return sum;
}

static void avgpool(const struct node *node, const real *x, real *y)
{
	const struct shape in = node->in, out = node->out;

	for (int c = 0; c < in.channels; c++, x += in.height * in.width)
		for (int i = 0; i < out.height * out.width; i++) {
			const struct inside rows = share_of(
				i / out.width, in.height, out.height);
			const struct inside columns = share_of(
				i % out.width, in.width, out.width);
			double sum = 0;

			for (int r = rows.from; r < rows.to; r++)
				sum += sum_of(x + r * in.width + columns.from,
					      (size_t)(columns.to -
						       columns.from));
			*y++ = (real)(sum / ((rows.to - rows.from) *
					     (columns.to - columns.from)));
		}
}

/* Adds to dx. */
static void avgpool_backward(const struct node *node, const real *dy, real *dx)
{
	const struct shape in = node->in, out = node->out;

	for (int c = 0; c < in.channels; c++, dx += in.height * in.width)
		for (int i = 0; i < out.height * out.width; i++) {
			const struct inside rows = share_of(
				i / out.width, in.height, out.height);
			const struct inside columns = share_of(
				i % out.width, in.width, out.width);
			const real each = *dy++ /
					  (real)((rows.to - rows.from) *
						 (columns.to - columns.from));

			for (int r = rows.from; r < rows.to; r++)
				for (int k = columns.from; k < columns.to; k++)
					dx[r * in.width + k] += each;
		}
}

/* A channel of a batch: count planes of size values, stride values apart. */
struct channel {
	int count;
	size_t stride, size;
};

/* Computes a channel's mean and biased variance. */
static void find_moments(struct channel is, const real *x, double *mean,
			 double *variance)
{
	const double all = (double)is.count * (double)is.size;
	double sum = 0, squares = 0;

	for (int n = 0; n < is.count; n++)
		for (size_t i = 0; i < is.size; i++)
			sum += (double)x[(size_t)n * is.stride + i];
	*mean = sum / all;
	for (int n = 0; n < is.count; n++)
		for (size_t i = 0; i < is.size; i++) {
			const double away =
				(double)x[(size_t)n * is.stride + i] - *mean;

			squares += away * away;
		}
	*variance = squares / all;
}

/* Computes y = (x - mean) * scale + bias. */
static void normalise(struct channel is, const real *x, real mean, real scale,
		      real bias, real *y)
{
	for (int n = 0; n < is.count; n++, x += is.stride, y += is.stride)
		for (size_t i = 0; i < is.size; i++)
			y[i] = (x[i] - mean) * scale + bias;
}

/* Adds a plane's sums of dy and of dy (x - mean). */
static void sum_plane(const real *x, const real *dy, size_t size, double mean,
		      double *sum, double *product)
{
	for (size_t i = 0; i < size; i++) {
		*sum += (double)dy[i];
		*product += (double)dy[i] * ((double)x[i] - mean);
	}
}

/* Computes dy = (dy - mean_dy - (x - mean) * product) * scale in place. */
static void normalise_backward(struct channel is, const real *x, real mean,
			       real mean_dy, real product, real scale,
			       real *dy)
{
	for (int n = 0; n < is.count; n++, x += is.stride, dy += is.stride)
		for (size_t i = 0; i < is.size; i++)
			dy[i] = (dy[i] - mean_dy - (x[i] - mean) * product) *
				scale;
}

#endif
