/*
 * What a convolution as the definition has it needs backward, zeros and all:
 * the slopes by the output before pooling, and from them those by the weights,
 *
 *   dw[o][r][s][c] += sum over pixels p of dy[p][o] x[p + (r, s)][c]
 *
 * x and dy are channels-last. For each place (r, s) of the window a block of
 * ROWS output channels x VECTORS vectors of input channels is kept in registers
 * while all pixels pass: one load of each vector of x and one broadcast of each
 * dy for ROWS * VECTORS FMAs. Each sample is summed by itself: the errors of
 * long sums would grow with the batch.
 */
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/simd_masks.h"

#define VECTORS 2
#if LANES == 16
#define ROWS 12
#else
#define ROWS 6
#endif

/* Where a block of dw is: rows are output channels. */
struct block {
	const float *in, *slopes;
	float *weight_slopes;
	size_t row_length; /* floats from one output channel to the next */
	int slopes_row;	   /* floats from one row of pixels to the next */
};

/* rows and vectors are constants. */
INLINE void add_block(const struct conv_shape *shape, struct block block,
		      int rows, int vectors)
{
	const int height = conv_rows(shape), width = conv_columns(shape);
	vec sums[ROWS][VECTORS] = { 0 };

	for (int y = 0; y < height; y++) {
		const float *in = block.in +
				  y * shape->in_width * shape->in_stride;
		const float *slopes = block.slopes +
				      y * block.slopes_row;

		for (int x = 0; x < width; x++) {
			for (int o = 0; o < rows; o++)
				for (int v = 0; v < vectors; v++)
					sums[o][v] += slopes[o] *
						vec_load(in + v * LANES);
			in += shape->in_stride;
			slopes += shape->out_stride;
		}
	}
	for (int o = 0; o < rows; o++)
		for (int v = 0; v < vectors; v++) {
			float *to = block.weight_slopes +
				    (size_t)o * block.row_length + v * LANES;

			vec_store(to, vec_load(to) + sums[o][v]);
		}
}

/* All output channels, for vectors (a constant) of input channels. */
INLINE void add_columns(const struct conv_shape *shape, struct block block,
			int outputs, int vectors)
{
	int o = 0;

	for (; o + ROWS <= outputs; o += ROWS) {
		add_block(shape, block, ROWS, vectors);
		block.slopes += ROWS;
		block.weight_slopes += (size_t)ROWS * block.row_length;
	}
	for (; o < outputs; o++) {
		add_block(shape, block, 1, vectors);
		block.slopes++;
		block.weight_slopes += block.row_length;
	}
}

/* The sum over the pixels of LANES output channels, row by row. */
static vec sum_pixels(const struct conv_shape *shape, const float *slopes,
		      int slopes_row)
{
	vec sum = { 0 };

	for (int y = 0; y < conv_rows(shape); y++) {
		vec row = { 0 };

		for (int x = 0; x < conv_columns(shape); x++)
			row += vec_load(slopes + y * slopes_row +
					x * shape->out_stride);
		sum += row;
	}
	return sum;
}

static void add_biases(const struct conv_shape *shape, int outputs,
		       const float *slopes, int slopes_row, float *bias_slopes)
{
	for (int o = 0; o < outputs; o += LANES) {
		const int rest = outputs - o;
		const int count = rest < LANES ? rest : LANES;
		const vec sum = sum_pixels(shape, slopes + o, slopes_row);
		const vec before = vec_load_first(bias_slopes + o, count);

		vec_store_first(bias_slopes + o, before + sum, count);
	}
}

void ISA_NAME(conv_weights_dense)(const struct conv_shape *shape, int outputs,
				  const float *in, const float *slopes,
				  int slopes_row, float *weight_slopes,
				  float *bias_slopes)
{
	const int window = shape->window;
	const int vectors = shape->in_stride / LANES;
	struct block block = {
		.slopes = slopes,
		.row_length = (size_t)(window * window * shape->in_stride),
		.slopes_row = slopes_row,
	};

	add_biases(shape, outputs, slopes, slopes_row, bias_slopes);
	for (int place = 0; place < window * window; place++)
		for (int v = 0; v < vectors; v += VECTORS) {
			const int shift = place / window * shape->in_width +
					  place % window;

			block.in = in + shift * shape->in_stride + v * LANES;
			block.weight_slopes = weight_slopes +
					      place * shape->in_stride +
					      v * LANES;
			if (v + VECTORS <= vectors)
				add_columns(shape, block, outputs, VECTORS);
			else
				add_columns(shape, block, outputs, 1);
		}
}

void ISA_NAME(conv_unpool)(const struct conv_shape *shape, const float *slopes,
			   const uint8_t *winners, float *unpooled, int row)
{
	const int stride = shape->out_stride, pool = shape->pool;
	const int height = conv_rows(shape) / pool;
	const int width = conv_columns(shape) / pool;

	for (int i = 0; i < height * width * stride; i += LANES) {
		const int x = i / stride % width, y = i / stride / width;
		const vec slope = vec_load(slopes + i);

		for (int k = 0; k < pool * pool; k++) {
			const mask won = mask_of_bytes(winners + i,
						       (uint8_t)k);

			vec_store(unpooled + (y * pool + k / pool) * row +
					  (x * pool + k % pool) * stride +
					  i % stride,
				  vec_keep(won, slope));
		}
	}
}
