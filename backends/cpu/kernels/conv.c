/*
 * Direct convolution over channels-last planes, forward and backward, in
 * GCC vectors as wide as one register of the instruction set; wider ones would
 * be taken apart through memory. Pixels are padded to 16 floats all the same.
 *
 * Forward, a tile of TILE pixels x 2 vectors of output channels in registers:
 *   y[p][o] = bias[o] + sum over r, s, c of x[p + (r, s)][c] w[r][s][c][o]
 * The weights of 32 outputs (36 KB for 3x3x32) stay in the first cache while
 * the rows of one pooling window are done.
 *
 * Backward, for one output channel at a time, over the pixels that won their
 * pooling window (slope g at pixel p):
 *   dw[r][s][c] += g x[p + (r, s)][c]       accumulated in registers
 *   dx[p + (r, s)][c] += g w[r][s][c]
 * The makefile compiles this file with ISA=avx512, avx2 and portable.
 */
#include <string.h>

#include "backends/cpu/kernels/conv_kernels.h"

#define TILE 6
#define MOST_PATCH 18 /* vectors of a patch that are kept in registers */

/* count (a constant) pixels x vectors (a constant) output vectors. */
INLINE void tile(const struct conv_shape *shape, const float *in,
		 const float *weights, const float *bias, int count,
		 int vectors, float *out)
{
	const int stride = shape->out_stride;
	vec sums[TILE][2];

	for (int p = 0; p < count; p++)
		for (int v = 0; v < vectors; v++)
			sums[p][v] = vec_load(bias + v * LANES);
	for (int r = 0; r < shape->window; r++)
		for (int s = 0; s < shape->window; s++) {
			const float *x = in + (r * shape->in_width + s) *
						      shape->in_stride;
			const float *w = weights +
					 (r * shape->window + s) *
						 shape->in_channels * stride;

			for (int c = 0; c < shape->in_channels; c++)
				for (int p = 0; p < count; p++)
					for (int v = 0; v < vectors; v++)
						sums[p][v] +=
							x[p * shape->in_stride +
							  c] *
							vec_load(w +
								 c * stride +
								 v * LANES);
		}
	for (int p = 0; p < count; p++)
		for (int v = 0; v < vectors; v++)
			vec_store(out + p * stride + v * LANES, sums[p][v]);
}

/* One row of outputs for two vectors (or one, a constant) of channels. */
INLINE void row(const struct conv_shape *shape, const float *in,
		const float *weights, const float *bias, int vectors,
		float *out)
{
	const int width = conv_columns(shape);
	int x = 0;

	for (; x + TILE <= width; x += TILE)
		tile(shape, in + x * shape->in_stride, weights, bias, TILE,
		     vectors, out + x * shape->out_stride);
	for (; x < width; x++)
		tile(shape, in + x * shape->in_stride, weights, bias, 1,
		     vectors, out + x * shape->out_stride);
}

/* count rows of outputs, all channels. */
static void rows_forward(const struct conv_shape *shape, const float *in,
			 const float *weights, const float *bias, int count,
			 float *out)
{
	const int in_row = shape->in_width * shape->in_stride;
	const int out_row = conv_columns(shape) * shape->out_stride;
	int o = 0;

	for (; o + 2 * LANES <= shape->out_stride; o += 2 * LANES)
		for (int y = 0; y < count; y++)
			row(shape, in + y * in_row, weights + o, bias + o, 2,
			    out + y * out_row + o);
	for (; o < shape->out_stride; o += LANES)
		for (int y = 0; y < count; y++)
			row(shape, in + y * in_row, weights + o, bias + o, 1,
			    out + y * out_row + o);
}

/* A row of windows; a NaN wins, so that it reaches the loss. */
static void pool_row(const struct conv_shape *shape, const float *rows,
		     float *out, uint8_t *winners)
{
	const int stride = shape->out_stride, pool = shape->pool;
	const int in_row = conv_columns(shape) * stride;
	const int width = conv_columns(shape) / pool;

	for (int x = 0; x < width; x++) {
		const float *at = rows + x * pool * stride;

		memcpy(out, at, (size_t)stride * sizeof(*out));
		memset(winners, 0, (size_t)stride);
		for (int k = 1; k < pool * pool; k++) {
			const float *other = at + k / pool * in_row +
					     k % pool * stride;

			for (int o = 0; o < stride; o++) {
				int wins = (other[o] > out[o]) |
					   (other[o] != other[o]);

				out[o] = wins ? other[o] : out[o];
				winners[o] = wins ? (uint8_t)k : winners[o];
			}
		}
		out += stride;
		winners += stride;
	}
}

static void rectify(float *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = values[i] <= 0 ? 0 : values[i];
}

void ISA_NAME(conv_forward)(const struct conv_shape *shape, const float *in,
			    const float *weights, const float *bias,
			    float *rows, float *out, uint8_t *winners)
{
	const int pool = shape->pool;
	const int in_row = shape->in_width * shape->in_stride;
	const int width = conv_columns(shape) / pool;
	const size_t out_row = (size_t)width * (size_t)shape->out_stride;

	for (int y = 0; y + pool <= conv_rows(shape); y += pool) {
		rows_forward(shape, in + y * in_row, weights, bias, pool,
			     pool > 1 ? rows : out);
		if (pool > 1) {
			pool_row(shape, rows, out, winners);
			winners += out_row;
		}
		if (shape->relu)
			rectify(out, out_row);
		out += out_row;
	}
}

/* One slope g at a pixel: dw += g x, dx += g w, over the patch at it. */
INLINE void spread(float g, int window, int patch_row, int in_row,
		   const float *from, const float *weights, vec *sums,
		   float *to)
{
	for (int r = 0; r < window; r++)
		for (int i = 0; i < patch_row; i++)
			sums[r * patch_row + i] +=
				g * vec_load(from + r * in_row + i * LANES);
	for (int r = 0; to && r < window; r++)
		for (int i = 0; i < patch_row; i++) {
			float *at = to + r * in_row + i * LANES;
			const int w = (r * patch_row + i) * LANES;

			vec_store(at, vec_load(at) + g * vec_load(weights + w));
		}
}

/*
 * One output channel: window and vectors (per pixel) are constants, so that the
 * patch is in registers. Fields of shape are copied: the compiler must think
 * that any store changes them. places are the offsets of a window's pixels.
 */
INLINE void channel_backward(const struct conv_shape *shape, int window,
			     int vectors, const float *in, const float *weights,
			     const float *slopes, const uint8_t *winners,
			     const int *places, float *weight_slopes,
			     float *bias_slope, float *in_slopes)
{
	const int stride = shape->out_stride, pool = shape->pool;
	const int rows = conv_rows(shape) / pool;
	const int width = conv_columns(shape) / pool;
	const int in_stride = shape->in_stride;
	const int in_row = shape->in_width * in_stride;
	const int patch = window * window * vectors;
	vec sums[MOST_PATCH];
	float bias = 0;

	for (int i = 0; i < patch; i++)
		sums[i] = vec_load(weight_slopes + i * LANES);
	for (int y = 0; y < rows; y++)
		for (int x = 0; x < width; x++) {
			const int at = (y * width + x) * stride;
			const float g = slopes[at];
			int pixel = y * pool * in_row + x * pool * in_stride;

			if (g == 0)
				continue;
			if (winners)
				pixel += places[winners[at]];
			bias += g;
			spread(g, window, window * vectors, in_row, in + pixel,
			       weights, sums,
			       in_slopes ? in_slopes + pixel : NULL);
		}
	for (int i = 0; i < patch; i++)
		vec_store(weight_slopes + i * LANES, sums[i]);
	*bias_slope += bias;
}

/* Any window and any number of channels: one vector of the patch at a time. */
static void channel_backward_any(const struct conv_shape *shape,
				 const float *in, const float *weights,
				 const float *slopes, const uint8_t *winners,
				 const int *places, float *weight_slopes,
				 float *bias_slope, float *in_slopes)
{
	const int per_pixel = shape->in_stride / LANES;
	float ignored = 0;

	/* A window of 1 over shifted planes: same output size, same stride. */
	for (int i = 0; i < shape->window * shape->window * per_pixel; i++) {
		const int pixel = i / per_pixel;
		const int shift = (pixel / shape->window * shape->in_width +
				   pixel % shape->window) * shape->in_stride +
				  i % per_pixel * LANES;

		channel_backward(shape, 1, 1, in + shift,
				 weights + i * LANES, slopes, winners,
				 places, weight_slopes + i * LANES,
				 i ? &ignored : bias_slope,
				 in_slopes ? in_slopes + shift : NULL);
	}
}

void ISA_NAME(conv_backward)(const struct conv_shape *shape, int outputs,
			     const float *in, const float *weights,
			     const float *out_slopes, const uint8_t *winners,
			     float *weight_slopes, float *bias_slopes,
			     float *in_slopes)
{
	const int vectors = shape->in_stride / LANES;
	const int patch = shape->window * shape->window * shape->in_stride;
	int places[UINT8_MAX + 1];

	for (int k = 0; k < shape->pool * shape->pool; k++)
		places[k] = (k / shape->pool * shape->in_width +
			     k % shape->pool) * shape->in_stride;
	for (int o = 0; o < outputs; o++) {
		const uint8_t *won = winners ? winners + o : NULL;

		if (shape->window == 3 && vectors == 2)
			channel_backward(shape, 3, 2, in, weights,
					 out_slopes + o, won, places,
					 weight_slopes, bias_slopes + o,
					 in_slopes);
		else if (shape->window == 3 && vectors == 1)
			channel_backward(shape, 3, 1, in, weights,
					 out_slopes + o, won, places,
					 weight_slopes, bias_slopes + o,
					 in_slopes);
		else
			channel_backward_any(shape, in, weights,
					     out_slopes + o, won, places,
					     weight_slopes, bias_slopes + o,
					     in_slopes);
		weights += patch;
		weight_slopes += patch;
	}
}
