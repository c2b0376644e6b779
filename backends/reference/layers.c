#include "backends/reference/layers.h"

#include <math.h>
#include <string.h>

/*
 * Adds a pixel of the window, w, to a row of the output. Sums of neighbours do
 * not wait for each other, as those of one output would.
 */
static void row_add(const double *x, int width, double w, double *y)
{
	for (int c = 0; c < width; c++)
		y[c] += w * x[c];
}

void conv_forward(const double *x, struct shape in, const double *w,
		  const double *bias, int outputs, int window, double *y)
{
	const int rows = in.height - window + 1, width = in.width - window + 1;

	for (int o = 0; o < outputs; o++)
		for (int r = 0; r < rows; r++, y += width) {
			const double *wo = w + (size_t)o * in.channels *
						       window * window;

			for (int c = 0; c < width; c++)
				y[c] = bias[o];
			for (int i = 0; i < in.channels; i++)
				for (int j = 0; j < window; j++) {
					const double *from =
						x + (i * in.height + r + j) *
							    in.width;

					for (int k = 0; k < window; k++)
						row_add(from + k, width, *wo++,
							y);
				}
		}
}

/* One slope of one output: dw += slope x, dx += slope w, over the patch. */
static void patch_backward(double slope, const double *x, struct shape in,
			   const double *w, int window, double *dw, double *dx)
{
	for (int i = 0; i < in.channels; i++)
		for (int j = 0; j < window; j++) {
			const int row = (i * in.height + j) * in.width;

			for (int k = 0; k < window; k++) {
				*dw++ += slope * x[row + k];
				if (dx)
					dx[row + k] += slope * *w;
				w++;
			}
		}
}

void conv_backward(const double *x, struct shape in, const double *w,
		   int outputs, int window, const double *dy, double *dw,
		   double *dbias, double *dx)
{
	const int rows = in.height - window + 1, width = in.width - window + 1;
	const size_t each = (size_t)in.channels * window * window;

	if (dx)
		memset(dx, 0, shape_size(in) * sizeof(*dx));
	for (int o = 0; o < outputs; o++)
		for (int r = 0; r < rows; r++)
			for (int c = 0; c < width; c++) {
				const double slope = *dy++;
				const int at = r * in.width + c;

				dbias[o] += slope;
				if (slope != 0)
					patch_backward(slope, x + at, in,
						       w + (size_t)o * each,
						       window,
						       dw + (size_t)o * each,
						       dx ? dx + at : NULL);
			}
}

void linear_forward(const double *x, size_t inputs, const double *w,
		    const double *bias, int outputs, double *y)
{
	for (int o = 0; o < outputs; o++) {
		double sum = bias[o];

		for (size_t i = 0; i < inputs; i++)
			sum += w[(size_t)o * inputs + i] * x[i];
		y[o] = sum;
	}
}

void linear_backward(const double *x, size_t inputs, const double *w,
		     int outputs, const double *dy, double *dw, double *dbias,
		     double *dx)
{
	if (dx)
		memset(dx, 0, inputs * sizeof(*dx));
	for (int o = 0; o < outputs; o++) {
		const size_t row = (size_t)o * inputs;

		dbias[o] += dy[o];
		for (size_t i = 0; i < inputs; i++)
			dw[row + i] += dy[o] * x[i];
		for (size_t i = 0; dx && i < inputs; i++)
			dx[i] += dy[o] * w[row + i];
	}
}

static double largest(const double *x, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, fabs(x[i]));
	return most;
}

void relu_forward(const double *x, size_t count, const uint8_t *imposed,
		  uint8_t *passes, double *y, double *regret)
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

void relu_backward(const double *dy, size_t count, const uint8_t *passes,
		   double *dx)
{
	for (size_t i = 0; i < count; i++)
		dx[i] = passes[i] ? dy[i] : 0;
}

/* Row * window + column of the first maximum of one window at x. */
static int window_winner(const double *x, int row_length, int window)
{
	int best = 0;
	double top = x[0];

	for (int k = 1; k < window * window; k++) {
		double value = x[k / window * row_length + k % window];

		if (value > top || isnan(value)) {
			top = value;
			best = k;
		}
	}
	return best;
}

void maxpool_forward(const double *x, struct shape in, int window,
		     const uint8_t *imposed, uint8_t *winners, double *y,
		     double *regret)
{
	const int rows = in.height / window, width = in.width / window;
	const double scale = imposed ? largest(x, shape_size(in)) : 0;

	for (int at = 0; at < in.channels * rows * width; at++) {
		const int c = at / (rows * width), r = at / width % rows;
		const double *from = x + (c * in.height + r * window) *
						 in.width + at % width * window;
		int best = window_winner(from, in.width, window);
		int taken = imposed && imposed[at] != DECISION_ANY ?
				    imposed[at] : best;

		if (taken >= window * window) { /* no place in the window */
			*regret = INFINITY;
			taken = best;
		}

		winners[at] = (uint8_t)taken;
		y[at] = from[taken / window * in.width + taken % window];
		best = best / window * in.width + best % window;
		if (scale > 0)
			*regret = fmax(*regret, (from[best] - y[at]) / scale);
	}
}

void maxpool_backward(const double *dy, struct shape in, int window,
		      const uint8_t *winners, double *dx)
{
	const int rows = in.height / window, width = in.width / window;

	memset(dx, 0, shape_size(in) * sizeof(*dx));
	for (int at = 0; at < in.channels * rows * width; at++) {
		const int c = at / (rows * width), r = at / width % rows;
		const int row = c * in.height + r * window +
				winners[at] / window;

		dx[row * in.width + at % width * window +
		   winners[at] % window] = dy[at];
	}
}

void dropout_apply(const double *x, size_t choices, size_t span,
		   const uint8_t *keep, double drop, double *y)
{
	for (size_t i = 0; i < choices * span; i++)
		y[i] = keep[i / span] ? x[i] / (1 - drop) : x[i] * 0;
}

void loss_forward(const double *x, int classes, int label, int divisor,
		  struct score *score, double *dx)
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
	score->count++;
	for (int k = 0; dx && k < classes; k++)
		dx[k] = (exp(x[k] - x[best]) / sum - (k == label)) / divisor;
}
