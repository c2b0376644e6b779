/* Poolings and single elements. Memory is what most of this waits for. */
#include "backends/cpu/kernels/planes.h"

#include "backends/cpu/kernels/planes_kernels.h"
#include "backends/cpu/kernels/simd_masks.h"

/* A vector of channels from one on, or what there is of it. */
struct lanes {
	int first, count;
};

INLINE vec lanes_load(const float *from, struct lanes lanes)
{
	return lanes.count == LANES ? vec_load(from + lanes.first) :
				      vec_load_first(from + lanes.first,
						     lanes.count);
}

INLINE void lanes_store(float *to, vec value, struct lanes lanes)
{
	if (lanes.count == LANES)
		vec_store(to + lanes.first, value);
	else
		vec_store_first(to + lanes.first, value, lanes.count);
}

INLINE struct lanes lanes_from(int first, int channels)
{
	return (struct lanes){ first, channels - first < LANES ?
					      channels - first : LANES };
}

/* Rows, or columns, of a window that lie in a plane. */
struct span {
	int from, to; /* of the window */
	int first;    /* of the plane, where from is */
};

INLINE struct span span_of(int place, int window, int stride, int pad,
			   int length)
{
	const int first = place * stride - pad;
	const int from = first < 0 ? -first : 0;
	const int to = first + window > length ? length - first : window;

	return (struct span){ from, to, first + from };
}

static void pool_window(const struct pool_shape *shape, const float *in,
			struct span y, struct span x, struct lanes lanes,
			float *out, uint8_t *winners)
{
	const float *row = in + (y.first * shape->in.width + x.first) *
					shape->in_stride;
	lane_bytes winner = bytes_set((uint8_t)(y.from * shape->window +
						x.from));
	vec most = lanes_load(row, lanes);

	for (int r = y.from; r < y.to; r++) {
		const float *at = row;

		for (int c = x.from; c < x.to; c++) {
			const vec other = lanes_load(at, lanes);
			const mask wins = mask_wins(other, most);

			most = vec_choose(wins, other, most);
			winner = bytes_choose(
				wins,
				bytes_set((uint8_t)(r * shape->window + c)),
				winner);
			at += shape->in_stride;
		}
		row += shape->in.width * shape->in_stride;
	}
	lanes_store(out, most, lanes);
	if (winners)
		bytes_store(winners + lanes.first, winner);
}

static void maxpool(const struct pool_shape *shape, const float *in, float *out,
		    uint8_t *winners)
{
	const int channels = shape->in.channels;

	for (int p = 0; p < shape->out.height * shape->out.width; p++) {
		const struct span y = span_of(p / shape->out.width,
					      shape->window, shape->stride,
					      shape->pad, shape->in.height);
		const struct span x = span_of(p % shape->out.width,
					      shape->window, shape->stride,
					      shape->pad, shape->in.width);

		for (int c = 0; c < channels; c += LANES)
			pool_window(shape, in, y, x, lanes_from(c, channels),
				    out, winners);
		out += shape->out_stride;
		if (winners)
			winners += shape->winners_stride;
	}
}

/* Each pixel of a window has the gradient in the lanes where it has won. */
static void unpool_window(const struct pool_shape *shape, const float *dy,
			  const uint8_t *winners, struct span y, struct span x,
			  struct lanes lanes, float *dx)
{
	const vec gradient = lanes_load(dy, lanes);
	float *row = dx + (y.first * shape->in.width + x.first) *
				  shape->in_stride;

	for (int r = y.from; r < y.to; r++) {
		float *at = row;

		for (int c = x.from; c < x.to; c++) {
			const mask won = mask_of_bytes(
				winners + lanes.first,
				(uint8_t)(r * shape->window + c));

			lanes_store(at, lanes_load(at, lanes) +
						vec_keep(won, gradient),
				    lanes);
			at += shape->in_stride;
		}
		row += shape->in.width * shape->in_stride;
	}
}

static void maxpool_backward(const struct pool_shape *shape, const float *dy,
			     const uint8_t *winners, float *dx)
{
	const int channels = shape->in.channels;

	for (int p = 0; p < shape->out.height * shape->out.width; p++) {
		const struct span y = span_of(p / shape->out.width,
					      shape->window, shape->stride,
					      shape->pad, shape->in.height);
		const struct span x = span_of(p % shape->out.width,
					      shape->window, shape->stride,
					      shape->pad, shape->in.width);

		for (int c = 0; c < channels; c += LANES)
			unpool_window(shape, dy, winners, y, x,
				      lanes_from(c, channels), dx);
		dy += shape->out_stride;
		winners += shape->winners_stride;
	}
}

/* Of the inputs that output number place of out is the mean of. */
INLINE struct span mean_of(int place, int in, int out)
{
	const int first = place * in / out;

	return (struct span){ 0, ((place + 1) * in + out - 1) / out - first,
			      first };
}

static void avgpool(const struct pool_shape *shape, const float *restrict in,
		    float *restrict out)
{
	const int channels = shape->in.channels;

	for (int p = 0; p < shape->out.height * shape->out.width; p++) {
		const struct span y = mean_of(p / shape->out.width,
					      shape->in.height,
					      shape->out.height);
		const struct span x = mean_of(p % shape->out.width,
					      shape->in.width,
					      shape->out.width);
		const float share = 1.f / (float)(y.to * x.to);

		for (int c = 0; c < channels; c++)
			out[c] = 0;
		for (int i = 0; i < y.to * x.to; i++) {
			const float *from = in + ((y.first + i / x.to) *
							  shape->in.width +
						  x.first + i % x.to) *
							 shape->in_stride;

			for (int c = 0; c < channels; c++)
				out[c] += from[c];
		}
		for (int c = 0; c < channels; c++)
			out[c] *= share;
		out += shape->out_stride;
	}
}

static void avgpool_backward(const struct pool_shape *shape, const float *dy,
			     float *dx)
{
	const int channels = shape->in.channels;

	for (int p = 0; p < shape->out.height * shape->out.width; p++) {
		const struct span y = mean_of(p / shape->out.width,
					      shape->in.height,
					      shape->out.height);
		const struct span x = mean_of(p % shape->out.width,
					      shape->in.width,
					      shape->out.width);
		const float share = 1.f / (float)(y.to * x.to);

		for (int i = 0; i < y.to * x.to; i++) {
			float *to = dx + ((y.first + i / x.to) *
						  shape->in.width +
					  x.first + i % x.to) *
						 shape->in_stride;

			for (int c = 0; c < channels; c++)
				to[c] += dy[c] * share;
		}
		dy += shape->out_stride;
	}
}

static void relu(size_t count, const float *x, float *y)
{
	/* A NaN is not at most 0. */
	EACH_ALONE
	for (size_t i = 0; i < count; i++)
		y[i] = x[i] <= 0 ? 0 : x[i];
}

static void add(size_t count, const float *a, const float *b, float *y)
{
	EACH_ALONE
	for (size_t i = 0; i < count; i++)
		y[i] = a[i] + b[i];
}

static void add_to(size_t count, const float *from, float *to)
{
	EACH_ALONE
	for (size_t i = 0; i < count; i++)
		to[i] += from[i];
}

static void relu_backward(size_t count, const float *restrict y,
			  const float *dy, int adds, float *dx)
{
	if (adds)
		EACH_ALONE
		for (size_t i = 0; i < count; i++)
			dx[i] += y[i] <= 0 ? 0 : dy[i];
	else
		EACH_ALONE
		for (size_t i = 0; i < count; i++)
			dx[i] = y[i] <= 0 ? 0 : dy[i];
}

const struct plane_kernels ISA_NAME(plane_kernels) = {
	.maxpool = maxpool,
	.maxpool_backward = maxpool_backward,
	.avgpool = avgpool,
	.avgpool_backward = avgpool_backward,
	.add_moments = ISA_NAME(norm_add_moments),
	.norm = ISA_NAME(norm_forward),
	.norm_sums = ISA_NAME(norm_sums),
	.norm_backward = ISA_NAME(norm_backward),
	.relu = relu,
	.add = add,
	.add_to = add_to,
	.relu_backward = relu_backward,
};
