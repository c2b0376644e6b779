/*
 * What a convolution as the definition has it needs backward, zeros and all:
 * the slopes by the output before pooling, and from them those by the weights,
 *
 *   dw[o][r][s][c] += sum over pixels p of dy[p][o] x[p + (r, s)][c]
 *
 * x and dy are channels-last. For SHIFTS neighbouring places of the window and
 * a vector of input channels, sums for OUTPUTS output channels are kept in
 * registers while pixels pass along a row. A vector of x serves all SHIFTS
 * pixels over which these places pass, so that a load of x and a broadcast of
 * each dy is all that OUTPUTS * SHIFTS products take.
 *
 * Blocking: ROWS rows of pixels at a time, which stay in the first level while
 * all channels and places pass.
 *
 * Ceiling, on a Xeon with AVX-512 (217 GFLOP/s of registers alone): a loop of
 * 24 products and 9 loads from the first cache does 205; 175 to 180 are
 * reached.
 */
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/simd_masks.h"

#define SHIFTS 3
#define ROWS 4
#if LANES == 16
#define OUTPUTS 8
#else
#define OUTPUTS 4
#endif

/* Where a block of dw is. */
struct block {
	const float *in, *slopes;
	float *weight_slopes;
	int height;	/* rows of pixels */
	int slopes_row; /* floats from one row of pixels to the next */
	int outputs;	/* that there are from here on */
};

/* outputs and shifts are constants. Slopes are padded, dw is not. */
INLINE void add_block(const struct conv_shape *shape, struct block block,
		      int outputs, int shifts)
{
	const int stride = shape->in_stride, next = shape->out_stride;
	const int width = conv_columns(shape);
	const size_t patch = (size_t)(shape->window * shape->window * stride);
	vec sums[2 * OUTPUTS][SHIFTS];

	UNROLL
	for (int i = 0; i < outputs * shifts; i++)
		sums[i / shifts][i % shifts] = vec_set(0);
	for (int y = 0; y < block.height; y++) {
		const float *in = block.in + y * shape->in_width * stride;
		const float *slopes = block.slopes + y * block.slopes_row;
		vec values[SHIFTS];

		UNROLL
		for (int s = 0; s + 1 < shifts; s++, in += stride)
			values[s] = vec_load(in);
		for (int x = 0; x < width; x++, in += stride, slopes += next) {
			values[shifts - 1] = vec_load(in);
			UNROLL
			for (int o = 0; o < outputs; o++) {
				const vec slope = vec_hold(vec_set(slopes[o]));

				UNROLL
				for (int s = 0; s < shifts; s++)
					sums[o][s] += slope * values[s];
			}
			UNROLL
			for (int s = 0; s + 1 < shifts; s++)
				values[s] = values[s + 1];
		}
	}
	UNROLL
	for (int i = 0; i < outputs * shifts; i++) {
		const int o = i / shifts, s = i % shifts;
		float *to = block.weight_slopes + (size_t)o * patch +
			    s * stride;

		if (o < block.outputs)
			vec_store(to, vec_load(to) + sums[o][s]);
	}
}

/* All outputs, for a constant of shifts. */
INLINE void add_outputs(const struct conv_shape *shape, struct block block,
			int shifts)
{
	const int outputs = shifts > 1 ? OUTPUTS : 2 * OUTPUTS;
	const int patch = shape->window * shape->window * shape->in_stride;

	for (; block.outputs > 0; block.outputs -= outputs) {
		add_block(shape, block, outputs, shifts);
		block.slopes += outputs;
		block.weight_slopes += outputs * patch;
	}
}

/* A row of the window, for a vector of input channels. */
static void add_places(const struct conv_shape *shape, struct block block)
{
	int left = shape->window;

	for (; left >= SHIFTS; left -= SHIFTS) {
		add_outputs(shape, block, SHIFTS);
		block.in += SHIFTS * shape->in_stride;
		block.weight_slopes += SHIFTS * shape->in_stride;
	}
	if (left == 2)
		add_outputs(shape, block, 2);
	else if (left == 1)
		add_outputs(shape, block, 1);
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
	const int height = conv_rows(shape), stride = shape->in_stride;
	const int in_row = shape->in_width * stride;

	add_biases(shape, outputs, slopes, slopes_row, bias_slopes);
	for (int y = 0; y < height; y += ROWS)
		for (int c = 0; c < stride; c += LANES)
			for (int r = 0; r < shape->window; r++)
				add_places(shape, (struct block){
					.in = in + (y + r) * in_row + c,
					.slopes = slopes + y * slopes_row,
					.weight_slopes = weight_slopes +
						r * shape->window * stride + c,
					.height = height - y < ROWS ?
							  height - y : ROWS,
					.slopes_row = slopes_row,
					.outputs = outputs,
				});
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
