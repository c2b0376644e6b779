#include <math.h>
#include <string.h>

#include "backends/host.h"

void host_im2col(const float *in, struct shape shape, int window,
		 float *columns)
{
	const int rows = shape.height - window + 1;
	const int width = shape.width - window + 1;

	for (int c = 0; c < shape.channels; c++)
		for (int i = 0; i < window; i++)
			for (int j = 0; j < window; j++)
				for (int y = 0; y < rows; y++) {
					memcpy(columns,
					       in + (c * shape.height + y + i) *
							       shape.width + j,
					       (size_t)width * sizeof(float));
					columns += width;
				}
}

void host_col2im(const float *columns, struct shape shape, int window,
		 float *in)
{
	const int rows = shape.height - window + 1;
	const int width = shape.width - window + 1;

	for (int c = 0; c < shape.channels; c++)
		for (int i = 0; i < window; i++)
			for (int j = 0; j < window; j++)
				for (int y = 0; y < rows; y++) {
					float *to = in + (c * shape.height + y +
							  i) * shape.width + j;

					for (int x = 0; x < width; x++)
						to[x] += columns[x];
					columns += width;
				}
}

void host_relu(float *values, size_t count, uint8_t *passes)
{
	/* NaN passes: it must reach the loss, where it is noticed. */
	for (size_t i = 0; i < count; i++) {
		passes[i] = !(values[i] <= 0);
		values[i] = values[i] <= 0 ? 0 : values[i];
	}
}

void host_relu_backward(float *slopes, size_t count, const uint8_t *passes)
{
	for (size_t i = 0; i < count; i++)
		slopes[i] = passes[i] ? slopes[i] : 0;
}

/* The window's maximum and its place; a constant window unrolls the loops. */
static inline void maxpool_window(const float *at, int row_length, int window,
				  float *out, uint8_t *winner)
{
	float top = at[0];
	int best = 0;

	for (int r = 0; r < window; r++)
		for (int c = 0; c < window; c++) {
			const float value = at[r * row_length + c];
			const int wins = (value > top) | (value != value);

			top = wins ? value : top;
			best = wins ? r * window + c : best;
		}
	*out = top;
	*winner = (uint8_t)best;
}

void host_maxpool(const float *in, struct shape in_shape, int window,
		  float *out, uint8_t *winners)
{
	const int rows = in_shape.height / window;
	const int width = in_shape.width / window;
	const int length = in_shape.width;

	for (int c = 0; c < in_shape.channels; c++)
		for (int y = 0; y < rows; y++) {
			const float *at = in + (c * in_shape.height +
						y * window) * length;

			for (int x = 0; x < width; x++, at += window)
				if (window == 2)
					maxpool_window(at, length, 2, out++,
						       winners++);
				else
					maxpool_window(at, length, window,
						       out++, winners++);
		}
}

void host_maxpool_backward(const float *out_slopes, struct shape in_shape,
			   int window, const uint8_t *winners, float *in_slopes)
{
	const int rows = in_shape.height / window;
	const int width = in_shape.width / window;

	memset(in_slopes, 0, shape_size(in_shape) * sizeof(float));
	for (int c = 0; c < in_shape.channels; c++)
		for (int y = 0; y < rows; y++)
			for (int x = 0; x < width; x++) {
				int k = *winners++;
				int row = c * in_shape.height + y * window +
					  k / window;

				in_slopes[row * in_shape.width + x * window +
					  k % window] = *out_slopes++;
			}
}

void host_dropout(float *values, size_t choices, size_t span,
		  const uint8_t *keep, double drop)
{
	const float scale = (float)(1 / (1 - drop));

	for (size_t i = 0; i < choices; i++)
		for (size_t j = 0; j < span; j++)
			values[i * span + j] *= keep[i] ? scale : 0;
}

void host_loss(const float *logits, int classes, int label, int divisor,
	       struct score *score, float *slopes)
{
	float top = logits[0];
	double sum = 0;
	int best = 0;

	for (int k = 1; k < classes; k++)
		if (logits[k] > top) {
			top = logits[k];
			best = k;
		}
	for (int k = 0; k < classes; k++)
		sum += exp((double)logits[k] - top);
	score->loss += log(sum) - ((double)logits[label] - top);
	score->correct += best == label;
	score->count++;
	if (!slopes)
		return;
	for (int k = 0; k < classes; k++)
		slopes[k] = (float)((exp((double)logits[k] - top) / sum -
				     (k == label)) / divisor);
}
