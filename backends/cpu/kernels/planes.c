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

/* All of it where pixels are that far apart: the gaps between them are 0, and
 * stay so. */
INLINE struct lanes lanes_from(const struct pool_shape *shape, int first)
{
	const int left = shape->in.channels - first;
	const int has_gap = first + LANES <= shape->in_stride &&
			    first + LANES <= shape->out_stride;

	return (struct lanes){ first,
			       has_gap || left > LANES ? LANES : left };
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

/* whole: the window is in the plane, and so wide; a constant, or 0. */
INLINE void pool_window(const struct pool_shape *shape, int whole,
			const float *in, struct span y, struct span x,
			struct lanes lanes, float *out, uint8_t *winners)
{
	const int window = whole ? whole : shape->window;
	const int rows = whole ? whole : y.to - y.from;
	const int columns = whole ? whole : x.to - x.from;
	const int first = whole ? 0 : y.from * window + x.from;
	const size_t pixel = (size_t)shape->in_stride;
	const size_t row = (size_t)shape->in.width * pixel;
	lane_bytes winner = bytes_set((uint8_t)first);
	vec most;

	in += (size_t)y.first * row + (size_t)x.first * pixel;
	most = lanes_load(in, lanes);
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < columns; c++) {
			const vec other = lanes_load(
				in + (size_t)r * row + (size_t)c * pixel,
				lanes);
			const mask wins = mask_wins(other, most);

			most = vec_choose(wins, other, most);
			winner = bytes_choose(
				wins,
				bytes_set((uint8_t)(first + r * window + c)),
				winner);
		}
	lanes_store(out, most, lanes);
	if (winners)
		bytes_store(winners + lanes.first, winner);
}

static int is_whole(const struct pool_shape *shape, struct span span)
{
	return span.to - span.from == shape->window;
}

/* A row of outputs. */
static void pool_row(const struct pool_shape *shape, const float *in,
		     struct span y, float *out, uint8_t *winners)
{
	const int inside = is_whole(shape, y) ? shape->window : 0;

	for (int p = 0; p < shape->out.width; p++, out += shape->out_stride) {
		const struct span x = span_of(p, shape->window, shape->stride,
					      shape->pad, shape->in.width);
		const int whole = is_whole(shape, x) ? inside : 0;

		for (int c = 0; c < shape->in.channels; c += LANES) {
			const struct lanes lanes = lanes_from(shape, c);

			if (whole == 2)
				pool_window(shape, 2, in, y, x, lanes, out,
					    winners);
			else if (whole == 3)
				pool_window(shape, 3, in, y, x, lanes, out,
					    winners);
			else
				pool_window(shape, 0, in, y, x, lanes, out,
					    winners);
		}
		if (winners)
			winners += shape->winners_stride;
	}
}

static void maxpool(const struct pool_shape *shape, const float *in, float *out,
		    uint8_t *winners)
{
	for (int p = 0; p < shape->out.height; p++) {
		pool_row(shape, in,
			 span_of(p, shape->window, shape->stride, shape->pad,
				 shape->in.height), out, winners);
		out += shape->out.width * shape->out_stride;
		if (winners)
			winners += shape->out.width * shape->winners_stride;
	}
}

/* Each pixel of a window has the gradient in the lanes where it has won. */
INLINE void unpool_window(const struct pool_shape *shape, int whole,
			  const float *dy, const uint8_t *winners,
			  struct span y, struct span x, struct lanes lanes,
			  float *dx)
{
	const int window = whole ? whole : shape->window;
	const int rows = whole ? whole : y.to - y.from;
	const int columns = whole ? whole : x.to - x.from;
	const int first = whole ? 0 : y.from * window + x.from;
	const size_t pixel = (size_t)shape->in_stride;
	const size_t row = (size_t)shape->in.width * pixel;
	const vec gradient = lanes_load(dy, lanes);

	dx += (size_t)y.first * row + (size_t)x.first * pixel;
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < columns; c++) {
			float *at = dx + (size_t)r * row + (size_t)c * pixel;
			const mask won = mask_of_bytes(
				winners + lanes.first,
				(uint8_t)(first + r * window + c));

			lanes_store(at, lanes_load(at, lanes) +
						vec_keep(won, gradient),
				    lanes);
		}
}

static void unpool_row(const struct pool_shape *shape, const float *dy,
		       const uint8_t *winners, struct span y, float *dx)
{
	const int inside = is_whole(shape, y) ? shape->window : 0;

	for (int p = 0; p < shape->out.width; p++, dy += shape->out_stride) {
		const struct span x = span_of(p, shape->window, shape->stride,
					      shape->pad, shape->in.width);
		const int whole = is_whole(shape, x) ? inside : 0;

		for (int c = 0; c < shape->in.channels; c += LANES) {
			const struct lanes lanes = lanes_from(shape, c);

			if (whole == 2)
				unpool_window(shape, 2, dy, winners, y, x,
					      lanes, dx);
			else if (whole == 3)
				unpool_window(shape, 3, dy, winners, y, x,
					      lanes, dx);
			else
				unpool_window(shape, 0, dy, winners, y, x,
					      lanes, dx);
		}
		winners += shape->winners_stride;
	}
}

static void maxpool_backward(const struct pool_shape *shape, const float *dy,
			     const uint8_t *winners, float *dx)
{
	for (int p = 0; p < shape->out.height; p++) {
		unpool_row(shape, dy, winners,
			   span_of(p, shape->window, shape->stride, shape->pad,
				   shape->in.height), dx);
		dy += shape->out.width * shape->out_stride;
		winners += shape->out.width * shape->winners_stride;
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
