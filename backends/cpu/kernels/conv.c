/*
 * Direct convolution over channels-last planes, forward and backward, in
 * GCC vectors as wide as one register of the instruction set; wider ones would
 * be taken apart through memory. Pixels are padded to 16 floats all the same.
 *
 * Forward, a tile of up to TILE pixels x 2 vectors of output channels in
 * registers, so that 28 products take 16 loads (AVX2: 12 take 8):
 *   y[p][o] = bias[o] + sum over r, s, c of x[p + (r, s)][c] w[r][s][c][o]
 * The weights of 32 outputs at a row of the window (12 KB for 3x3x32) stay in
 * the first cache while the rows of one pooling window, or ROWS, are done: all
 * of the window's would leave it between two tiles.
 * Ceiling, on a Xeon with AVX-512 (217 GFLOP/s of registers alone): a loop of
 * 24 products and 14 loads from the first cache does 198, and 187 if it ends
 * after 96 rounds; 165 to 173 are reached.
 *
 * Backward, for one output channel at a time, over the pixels that won their
 * pooling window (slope g at pixel p):
 *   dw[r][s][c] += g x[p + (r, s)][c]       accumulated in registers
 *   dx[p + (r, s)][c] += g w[r][s][c]
 * The makefile compiles this file with ISA=avx512, avx2 and portable.
 */
#include <string.h>

#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/simd_masks.h"
#include "backends/cpu/relu.h"

#if LANES == 16
#define TILE 14
#else
#define TILE 6
#endif
#define ROWS 4	      /* of outputs, that pass by weights in the cache */
#define NEAR 4	      /* pixels of a tile that share an address */
#define MOST_PATCH 18 /* vectors of a patch that are kept in registers */

/* channels of one place of the window, or of neighbouring ones: count pixels x
 * vectors of outputs, constants. */
INLINE void add_places(const struct conv_shape *shape, const float *in,
		       const float *weights, int channels, int count,
		       int vectors, vec sums[TILE][2])
{
	const ptrdiff_t stride = shape->in_stride, next = shape->out_stride;
	const float *at[(TILE + NEAR - 1) / NEAR];

	UNROLL
	for (int p = 0; p < count; p += NEAR)
		at[p / NEAR] = in + p * stride;
	for (int c = 0; c < channels; c++, weights += next) {
		vec row[2];

		UNROLL
		for (int v = 0; v < vectors; v++)
			row[v] = vec_load(weights + v * LANES);
		UNROLL
		for (int p = 0; p < count; p++) {
			const float *from = at[p / NEAR] + p % NEAR * stride;
			const vec x = vec_hold(vec_set(*from));

			UNROLL
			for (int v = 0; v < vectors; v++)
				sums[p][v] += x * row[v];
		}
		UNROLL
		for (int p = 0; p < count; p += NEAR)
			at[p / NEAR] = address_hold(at[p / NEAR] + 1);
	}
}

/* Row r of the window, for count pixels x vectors of outputs, constants. */
INLINE void tile(const struct conv_shape *shape, const float *in,
		 const float *weights, const float *bias, int r, int count,
		 int vectors, float *out)
{
	const int stride = shape->out_stride, channels = shape->in_channels;
	/* Without padding a row of the window is one long place. */
	const int joined = channels == shape->in_stride ? shape->window : 1;
	vec sums[TILE][2];

	UNROLL
	for (int p = 0; p < count; p++)
		UNROLL
		for (int v = 0; v < vectors; v++)
			sums[p][v] = vec_load((r ? out + p * stride : bias) +
					      v * LANES);
	for (int s = 0; s < shape->window; s += joined)
		add_places(shape, in + s * shape->in_stride,
			   weights + s * channels * stride, joined * channels,
			   count, vectors, sums);
	UNROLL
	for (int p = 0; p < count; p++)
		UNROLL
		for (int v = 0; v < vectors; v++)
			vec_store(out + p * stride + v * LANES, sums[p][v]);
}

/* count pixels, at most TILE. */
INLINE void pixels(const struct conv_shape *shape, const float *in,
		   const float *weights, const float *bias, int r, int count,
		   int vectors, float *out)
{
	/* A constant in each call. */
	UNROLL
	for (int n = 1; n <= TILE; n++)
		if (n == count)
			tile(shape, in, weights, bias, r, n, vectors, out);
}

/* Row r of the window, for one row of outputs and two vectors (or one, a
 * constant) of channels, in tiles that are as equal as can be. */
INLINE void row(const struct conv_shape *shape, const float *in,
		const float *weights, const float *bias, int r, int vectors,
		float *out)
{
	const int width = conv_columns(shape);
	int tiles = (width + TILE - 1) / TILE;

	for (int x = 0; x < width; tiles--) {
		const int count = (width - x + tiles - 1) / tiles;

		pixels(shape, in + x * shape->in_stride, weights, bias, r,
		       count, vectors, out + x * shape->out_stride);
		x += count;
	}
}

/* count rows of outputs, for vectors (a constant) of channels. */
INLINE void columns(const struct conv_shape *shape, const float *in,
		    const float *weights, const float *bias, int count,
		    int vectors, float *out)
{
	const int in_row = shape->in_width * shape->in_stride;
	const int out_row = conv_columns(shape) * shape->out_stride;
	const int taps = shape->window * shape->in_channels *
			 shape->out_stride;

	for (int r = 0; r < shape->window; r++)
		for (int y = 0; y < count; y++)
			row(shape, in + (y + r) * in_row, weights + r * taps,
			    bias, r, vectors, out + y * out_row);
}

/* count rows of outputs, all channels. */
static void rows_forward(const struct conv_shape *shape, const float *in,
			 const float *weights, const float *bias, int count,
			 float *out)
{
	int o = 0;

	for (; o + 2 * LANES <= shape->out_stride; o += 2 * LANES)
		columns(shape, in, weights + o, bias + o, count, 2, out + o);
	for (; o < shape->out_stride; o += LANES)
		columns(shape, in, weights + o, bias + o, count, 1, out + o);
}

/* A row of windows; a NaN wins, so that it reaches the loss. */
static void pool_row(const struct conv_shape *shape, const float *rows,
		     float *out, uint8_t *winners)
{
	const int stride = shape->out_stride, pool = shape->pool;
	const int in_row = conv_columns(shape) * stride;
	const int width = conv_columns(shape) / pool;

	for (int x = 0; x < width; x++, rows += pool * stride)
		for (int o = 0; o < stride; o += LANES) {
			vec most = vec_load(rows + o);
			lane_bytes winner = bytes_set(0);

			for (int k = 1; k < pool * pool; k++) {
				const vec other = vec_load(
					rows + k / pool * in_row +
					k % pool * stride + o);
				const mask wins = mask_wins(other, most);

				most = vec_choose(wins, other, most);
				winner = bytes_choose(
					wins, bytes_set((uint8_t)k), winner);
			}
			vec_store(out + x * stride + o, most);
			bytes_store(winners + x * stride + o, winner);
		}
}

void ISA_NAME(conv_forward)(const struct conv_shape *shape, const float *in,
			    const float *weights, const float *bias,
			    float *rows, float *out, uint8_t *winners)
{
	const int pool = shape->pool, height = conv_rows(shape) / pool;
	const int in_row = shape->in_width * shape->in_stride;
	const int width = conv_columns(shape) / pool;
	const size_t out_row = (size_t)width * (size_t)shape->out_stride;
	int count;

	for (int y = 0; y < height; y += count) {
		const int left = height - y;

		count = pool > 1 ? 1 : left < ROWS ? left : ROWS;
		rows_forward(shape, in + y * pool * in_row, weights, bias,
			     count * pool, pool > 1 ? rows : out);
		if (pool > 1) {
			pool_row(shape, rows, out, winners);
			winners += out_row;
		}
		if (shape->relu)
			relu_apply(out, (size_t)count * out_row);
		out += (size_t)count * out_row;
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
