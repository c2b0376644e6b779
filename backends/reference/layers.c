#include "backends/reference/layers.h"

#include <math.h>
#include <string.h>

#include "backends/host/storage.h"

/* Numbers from .. to - 1. */
struct span {
	int from, to;
};

/*
 * Returns the outputs of a row or column whose window has pixel k in the input.
 */
static struct span inside(const struct layer *layer, int k, int side,
			  int places)
{
	const int stride = layer_stride(layer), first = k - layer->pad;
	struct span span = { 0, places };

	if (first < 0)
		span.from = (-first + stride - 1) / stride;
	if (first + (places - 1) * stride >= side)
		span.to = side > first ? (side - 1 - first) / stride + 1 : 0;
	return span;
}

/* Adds w times every stride-th input to outputs. Neighbouring sums are
 * independent, unlike the terms of one output. */
static void row_add(const real *x, int stride, int count, real w, real *y)
{
	if (stride == 1)
		for (int c = 0; c < count; c++)
			y[c] += w * x[c];
	else
		for (int c = 0; c < count; c++)
			y[c] += w * x[c * stride];
}

/* Adds w times pixel (j, k) of each window over a plane to a plane. */
static void pixel_add(const struct layer *layer, const real *x,
		      struct shape in, int j, int k, real w, struct shape out,
		      real *y)
{
	const int stride = layer_stride(layer);
	const struct span rows = inside(layer, j, in.height, out.height);
	const struct span columns = inside(layer, k, in.width, out.width);
	const int column = columns.from * stride + k - layer->pad;

	for (int r = rows.from; r < rows.to; r++)
		row_add(x + (r * stride + j - layer->pad) * in.width + column,
			stride, columns.to - columns.from, w,
			y + r * out.width + columns.from);
}

void conv_forward(const struct layer *layer, const real *x, struct shape in,
		  const real *w, const real *bias, real *y)
{
	const struct shape out = layer_output(layer, in);
	const int window = layer->window, plane = out.height * out.width;

	for (int o = 0; o < out.channels; o++, y += plane) {
		for (int p = 0; p < plane; p++)
			y[p] = bias ? bias[o] : 0;
		for (int i = 0; i < in.channels; i++)
			for (int j = 0; j < window; j++)
				for (int k = 0; k < window; k++)
					pixel_add(layer,
						  x + i * in.height * in.width,
						  in, j, k, *w++, out, y);
	}
}

/* Adds one output's gradient over its patch, at row and column of the input: dw
 * += dy x, dx += dy w. */
static void patch_backward(real dy, const real *x, struct shape in,
			   int window, int row, int column, const real *w,
			   real *dw, real *dx)
{
	for (int i = 0; i < in.channels; i++)
		for (int j = row; j < row + window; j++)
			for (int k = column; k < column + window; k++) {
				const int at = (i * in.height + j) * in.width +
					       k;

				if (j >= 0 && j < in.height && k >= 0 &&
				    k < in.width) {
					*dw += dy * x[at];
					if (dx)
						dx[at] += dy * *w;
				}
				dw++;
				w++;
			}
}

void conv_backward(const struct layer *layer, const real *x, struct shape in,
		   const real *w, const real *dy, real *dw,
		   real *dbias, real *dx)
{
	const struct shape out = layer_output(layer, in);
	const int window = layer->window, stride = layer_stride(layer);
	const size_t each = (size_t)in.channels * (size_t)(window * window);

	for (int o = 0; o < out.channels; o++, w += each, dw += each)
		for (int r = 0; r < out.height; r++)
			for (int c = 0; c < out.width; c++) {
				if (dbias)
					dbias[o] += *dy;
				if (*dy != 0)
					patch_backward(*dy, x, in, window,
						       r * stride - layer->pad,
						       c * stride - layer->pad,
						       w, dw, dx);
				dy++;
			}
}

void bias_backward(struct shape out, const real *dy, real *dbias)
{
	const size_t plane = (size_t)(out.height * out.width);

	for (int o = 0; o < out.channels; o++)
		for (size_t i = 0; i < plane; i++)
			dbias[o] += *dy++;
}

void linear_forward(const real *x, size_t inputs, const real *w,
		    const real *bias, int outputs, real *y)
{
	for (int o = 0; o < outputs; o++) {
		real sum = bias[o];

		for (size_t i = 0; i < inputs; i++)
			sum += w[(size_t)o * inputs + i] * x[i];
		y[o] = sum;
	}
}

void linear_backward(const real *x, size_t inputs, const real *w,
		     int outputs, const real *dy, real *dw, real *dbias,
		     real *dx)
{
	for (int o = 0; o < outputs; o++) {
		const size_t row = (size_t)o * inputs;

		if (dbias)
			dbias[o] += dy[o];
		for (size_t i = 0; i < inputs; i++)
			dw[row + i] += dy[o] * x[i];
		for (size_t i = 0; dx && i < inputs; i++)
			dx[i] += dy[o] * w[row + i];
	}
}

static real largest(const real *x, size_t count)
{
	real most = 0;

	for (size_t i = 0; i < count; i++)
		most = fabs(x[i]) > most ? fabs(x[i]) : most;
	return most;
}

void relu_forward(const real *x, size_t count, const uint8_t *imposed,
		  uint8_t *passes, real *y, double *regret)
{
	const double scale = imposed ? largest(x, count) : 0;

	for (size_t i = 0; i < count; i++) {
		const int own = !(x[i] <= 0); /* a NaN passes */

		passes[i] = (uint8_t)own;
		if (imposed && imposed[i] != DECISION_ANY)
			passes[i] = imposed[i];
		y[i] = passes[i] || isnan(x[i]) ? x[i] : 0;
		if (scale > 0 && passes[i] != own)
			*regret = fmax(*regret, fabs(x[i]) / scale);
	}
}

void relu_backward(const real *dy, size_t count, const uint8_t *passes,
		   real *dx)
{
	for (size_t i = 0; i < count; i++)
		dx[i] += passes[i] ? dy[i] : 0;
}

/* The first pixel of a pooling window; it may lie outside the plane. */
struct window_corner {
	int row, column;
};

static struct window_corner place_of(const struct layer *layer,
				     struct shape out, int at)
{
	const int stride = layer_stride(layer);

	return (struct window_corner){
		at / out.width % out.height * stride - layer->pad,
		at % out.width * stride - layer->pad,
	};
}

/* Returns pixel k of the window at a place of a plane, or -1 in the padding. */
static int pixel_of(int window, struct window_corner place, struct shape in,
		    int k)
{
	const int row = place.row + k / window;
	const int column = place.column + k % window;

	if (row < 0 || row >= in.height || column < 0 || column >= in.width)
		return -1;
	return row * in.width + column;
}

/* Returns row * window + column of a window's first maximum; a NaN exceeds any
 * number. */
static int window_winner(const real *plane, struct shape in, int window,
			 struct window_corner place)
{
	real top = -INFINITY;
	int best = -1;

	for (int k = 0; k < window * window; k++) {
		const int pixel = pixel_of(window, place, in, k);

		if (pixel >= 0 && (best < 0 || plane[pixel] > top ||
				   isnan(plane[pixel]))) {
			top = plane[pixel];
			best = k;
		}
	}
	return best;
}

void maxpool_forward(const struct layer *layer, const real *x,
		     struct shape in, const uint8_t *imposed, uint8_t *winners,
		     real *y, double *regret)
{
	const struct shape out = layer_output(layer, in);
	const double scale = imposed ? largest(x, shape_size(in)) : 0;
	const int window = layer->window, all = window * window;

	for (int at = 0; at < (int)shape_size(out); at++) {
		const real *plane = x + at / (out.height * out.width) *
						  (in.height * in.width);
		const struct window_corner place = place_of(layer, out, at);
		const int best = window_winner(plane, in, window, place);
		int taken = imposed && imposed[at] != DECISION_ANY ?
				    imposed[at] : best;

		if (taken >= all || pixel_of(window, place, in, taken) < 0) {
			*regret = INFINITY; /* no place in the window */
			taken = best;
		}
		winners[at] = (uint8_t)taken;
		y[at] = plane[pixel_of(window, place, in, taken)];
		if (scale > 0)
			*regret = fmax(*regret,
				       (plane[pixel_of(window, place, in,
						       best)] - y[at]) / scale);
	}
}

void maxpool_backward(const struct layer *layer, const real *dy,
		      struct shape in, const uint8_t *winners, real *dx)
{
	const struct shape out = layer_output(layer, in);

	for (int at = 0; at < (int)shape_size(out); at++) {
		real *plane = dx + at / (out.height * out.width) *
					     (in.height * in.width);

		plane[pixel_of(layer->window, place_of(layer, out, at), in,
			       winners[at])] += dy[at];
	}
}

/* Returns the inputs of output i of a side: from floor(i in / out) to ceil((i +
 * 1) in / out) - 1. */
static struct span share(int i, int in, int out)
{
	return (struct span){ i * in / out, ((i + 1) * in + out - 1) / out };
}

void avgpool_forward(const struct layer *layer, const real *x,
		     struct shape in, real *y)
{
	const struct shape out = layer_output(layer, in);

	for (int c = 0; c < in.channels; c++, x += in.height * in.width)
		for (int at = 0; at < out.height * out.width; at++) {
			const struct span rows = share(at / out.width,
						       in.height, out.height);
			const struct span columns = share(at % out.width,
							  in.width, out.width);
			real sum = 0;

			for (int r = rows.from; r < rows.to; r++)
				for (int k = columns.from; k < columns.to; k++)
					sum += x[r * in.width + k];
			*y++ = sum / (rows.to - rows.from) /
			       (columns.to - columns.from);
		}
}

void avgpool_backward(const struct layer *layer, const real *dy,
		      struct shape in, real *dx)
{
	const struct shape out = layer_output(layer, in);

	for (int c = 0; c < in.channels; c++, dx += in.height * in.width)
		for (int at = 0; at < out.height * out.width; at++) {
			const struct span rows = share(at / out.width,
						       in.height, out.height);
			const struct span columns = share(at % out.width,
							  in.width, out.width);
			const real each = *dy++ / (rows.to - rows.from) /
					    (columns.to - columns.from);

			for (int r = rows.from; r < rows.to; r++)
				for (int k = columns.from; k < columns.to; k++)
					dx[r * in.width + k] += each;
		}
}

void dropout_forward(const real *x, size_t choices, size_t span,
		     const uint8_t *keep, double drop, real *y)
{
	for (size_t i = 0; i < choices * span; i++)
		y[i] = keep[i / span] ? x[i] / (1 - drop) : x[i] * 0;
}

void dropout_backward(const real *dy, size_t choices, size_t span,
		      const uint8_t *keep, double drop, real *dx)
{
	for (size_t i = 0; i < choices * span; i++)
		dx[i] += keep[i / span] ? dy[i] / (1 - drop) : dy[i] * 0;
}

void moments(const real *x, int count, size_t stride, size_t size,
	     double *mean, double *variance)
{
	const double all = (double)count * (double)size;
	double sum = 0, squares = 0;

	for (int n = 0; n < count; n++)
		for (size_t i = 0; i < size; i++)
			sum += x[(size_t)n * stride + i];
	*mean = sum / all;
	for (int n = 0; n < count; n++)
		for (size_t i = 0; i < size; i++) {
			const double away = x[(size_t)n * stride + i] - *mean;

			squares += away * away;
		}
	*variance = squares / all;
}

void norm_forward(const struct norm *norm, const real *x, int count,
		  size_t stride, size_t size, real *y)
{
	for (int n = 0; n < count; n++)
		for (size_t i = (size_t)n * stride;
		     i < (size_t)n * stride + size; i++)
			y[i] = (x[i] - norm->mean) / norm->deviation *
				       norm->weight + norm->bias;
}

void norm_backward(const struct norm *norm, const real *x, const real *dy,
		   int count, size_t stride, size_t size, real *dw,
		   real *dbias, real *dx)
{
	const double all = (double)count * (double)size;
	double sum = 0, product = 0;
	real mean, mean_product; /* of dy, and of dy times normalised x */

	for (int n = 0; n < count; n++)
		for (size_t i = (size_t)n * stride;
		     i < (size_t)n * stride + size; i++) {
			sum += dy[i];
			product += dy[i] * (x[i] - norm->mean) /
				   norm->deviation;
		}
	*dw += product;
	*dbias += sum;
	mean = (real)(sum / all);
	mean_product = (real)(product / all);
	for (int n = 0; dx && n < count; n++)
		for (size_t i = (size_t)n * stride;
		     i < (size_t)n * stride + size; i++)
			dx[i] += norm->weight / norm->deviation *
				 (dy[i] - mean -
				  (x[i] - norm->mean) / norm->deviation *
					  mean_product);
}

static void nll_forward(const real *x, int classes, int label, int divisor,
			struct score *score, real *dx)
{
	double sum = 0;
	int best = 0;

	for (int k = 1; k < classes; k++)
		if (x[k] > x[best])
			best = k;
	for (int k = 0; k < classes; k++)
		sum += exp(x[k] - x[best]);
	score->loss += log(sum) - (x[label] - x[best]);
	score->correct += best == label;
	for (int k = 0; dx && k < classes; k++)
		dx[k] = (exp(x[k] - x[best]) / sum - (k == label)) / divisor;
}

static void bce_forward(const real *x, int outputs, const float *z,
			int divisor, struct score *score, real *dx)
{
	for (int k = 0; k < outputs; k++) {
		/* Not exp(x), which would overflow for a large logit. */
		const double e = exp(x[k] > 0 ? -x[k] : x[k]);

		score->loss += ((x[k] > 0 ? x[k] : 0) - x[k] * z[k] +
				log1p(e)) / outputs;
		score->correct += (x[k] > 0) == (z[k] > .5);
		if (dx)
			dx[k] = ((x[k] > 0 ? 1 : e) / (1 + e) - z[k]) /
				outputs / divisor;
	}
}

static void mse_forward(const real *x, int outputs, const float *z,
			int divisor, struct score *score, real *dx)
{
	for (int k = 0; k < outputs; k++) {
		score->loss += (x[k] - z[k]) * (x[k] - z[k]) / outputs;
		if (dx)
			dx[k] = 2 * (x[k] - z[k]) / outputs / divisor;
	}
}

void loss_forward(enum loss loss, const real *x, int outputs,
		  const struct batch *batch, int i, struct score *score,
		  real *dx)
{
	const size_t at = (size_t)i * (size_t)outputs;

	for (int k = 0; batch->outputs && k < outputs; k++)
		batch->outputs[at + (size_t)k] = (float)x[k];
	if (loss == LOSS_NLL)
		nll_forward(x, outputs, batch->labels[i], batch->global_count,
			    score, dx);
	else if (loss == LOSS_BCE)
		bce_forward(x, outputs, batch->targets + at,
			    batch->global_count, score, dx);
	else
		mse_forward(x, outputs, batch->targets + at,
			    batch->global_count, score, dx);
	for (int k = 0; dx && k < outputs; k++)
		dx[k] = (real)(dx[k] * storage_loss_scale(batch));
	score->count++;
}
