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

void host_relu(float *values, size_t count, uint8_t *positive)
{
	/* NaN stays: it must reach the loss, where it is noticed. */
	for (size_t i = 0; i < count; i++) {
		positive[i] = values[i] > 0;
		values[i] = values[i] <= 0 ? 0 : values[i];
	}
}

void host_relu_backward(float *slopes, size_t count, const uint8_t *positive)
{
	for (size_t i = 0; i < count; i++)
		slopes[i] = positive[i] ? slopes[i] : 0;
}

/* One row of windows; each place of the window in turn, all windows at once. */
static void maxpool_row(const float *in, int row_length, int window, int width,
			float *restrict out, uint8_t *restrict winners)
{
	for (int x = 0; x < width; x++) {
		out[x] = in[x * window];
		winners[x] = 0;
	}
	for (int k = 1; k < window * window; k++) {
		const float *at = in + k / window * row_length + k % window;

		for (int x = 0; x < width; x++) {
			const float value = at[x * window];
			const int wins = (value > out[x]) | (value != value);

			out[x] = wins ? value : out[x];
			winners[x] = wins ? (uint8_t)k : winners[x];
		}
	}
}

void host_maxpool(const float *in, struct shape in_shape, int window,
		  float *out, uint8_t *winners)
{
	const int rows = in_shape.height / window;
	const int width = in_shape.width / window;

	for (int c = 0; c < in_shape.channels; c++)
		for (int y = 0; y < rows; y++) {
			maxpool_row(in + (c * in_shape.height + y * window) *
						 in_shape.width,
				    in_shape.width, window, width, out,
				    winners);
			out += width;
			winners += width;
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
