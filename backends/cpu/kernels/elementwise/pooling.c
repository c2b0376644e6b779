/* Max and average pooling, channels last: see elementwise.h. Ceiling: memory
 * bandwidth. */
#include "backends/cpu/kernels/elementwise/elementwise.h"

#include "backends/cpu/kernels/elementwise/elementwise_kernels.h"
#include "backends/cpu/kernels/simd/simd_masks.h"

/* A vector of channels from first on; count is less in a remainder. */
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

/* Returns whole vectors if pixels are far enough apart: the gaps between them
 * are 0 and stay 0. */
INLINE struct lanes lanes_from(const struct pool_shape *shape, int first)
{
	const int left = shape->in.channels - first;
	const int has_gap = first + LANES <= shape->in_stride &&
			    first + LANES <= shape->out_stride;

	return (struct lanes){ first,
			       has_gap || left > LANES ? LANES : left };
}

/* Rows, or columns, of a window inside a plane. */
struct overlap {
	int from, to; /* rows of the window */
	int first;    /* row of the plane at from */
};

INLINE struct overlap span_of(int place, int window, int stride, int pad,
			      int length)
{
	const int first = place * stride - pad;
	const int from = first < 0 ? -first : 0;
	const int to = first + window > length ? length - first : window;

	return (struct overlap){ from, to, first + from };
}

/* The pixels of a window inside the plane. */
struct pool_window {
	int rows, columns;
	int first;  /* row * window + column of the first pixel */
	int window; /* side of the whole window */
	int stride, marks;
	/* floats: to the first pixel, from row to row, from pixel to pixel */
	size_t at, row, pixel;
};

/* whole: side of a window wholly inside the plane, a constant; else 0. */
INLINE struct pool_window window_of(const struct pool_shape *shape, int whole,
				    struct overlap y, struct overlap x)
{
	const size_t pixel = (size_t)shape->in_stride;
	const size_t row = (size_t)shape->in.width * pixel;

	return (struct pool_window){
		.rows = whole ? whole : y.to - y.from,
		.columns = whole ? whole : x.to - x.from,
		.first = whole ? 0 : y.from * shape->window + x.from,
		.window = whole ? whole : shape->window,
		.stride = shape->stride,
		.marks = shape->marks,
		.at = (size_t)y.first * row + (size_t)x.first * pixel,
		.row = row,
		.pixel = pixel,
	};
}

/* The maximum of a vector of channels, and its place in the window. */
struct most {
	vec value;
	lane_bytes place;
};

INLINE struct most most_of(struct most a, struct most later)
{
	const mask wins = mask_wins(later.value, a.value);

	return (struct most){
		vec_choose(wins, later.value, a.value),
		bytes_choose(wins, later.place, a.place),
	};
}

INLINE struct most most_of_row(struct pool_window is, int row, const float *in,
			       struct lanes lanes)
{
	struct most most = { 0 };

	for (int c = 0; c < is.columns; c++) {
		const struct most here = {
			lanes_load(in + is.at + (size_t)row * is.row +
					   (size_t)c * is.pixel,
				   lanes),
			bytes_set((uint8_t)(is.first + row * is.window + c)),
		};

		most = c ? most_of(most, here) : here;
	}
	return most;
}

/* Prefetches the pixels that only the window below has, and not its right
 * neighbour. Without this, planes of 25 MB are read at a third of the speed. */
INLINE void fetch_below(struct pool_window is, const float *in)
{
	const size_t below = is.at + (size_t)is.window * is.row;
	const int own = is.stride < is.window ? is.stride : is.window;

	for (int r = 0; r < own; r++)
		for (int c = 0; c < own; c++)
			fetch(in, (ptrdiff_t)(below + (size_t)r * is.row +
					      (size_t)c * is.pixel));
}

/* Reduces each row first, so that the rows of a window do not wait for one
 * another. */
INLINE void pool_window(struct pool_window is, const float *in,
			struct lanes lanes, float *out, uint8_t *winners)
{
	struct most most = most_of_row(is, 0, in, lanes);

	fetch_below(is, in + lanes.first);
	for (int r = 1; r < is.rows; r++)
		most = most_of(most, most_of_row(is, r, in, lanes));
	lanes_store(out, most.value, lanes);
	if (is.marks)
		most.place = bytes_choose(mask_passes(most.value), most.place,
					  most.place | bytes_set(POOL_MARK));
	if (winners)
		bytes_store(winners + lanes.first, most.place);
}

/* Returns the side of the window if all of it lies in the plane and the side is
 * one of the constants below; else 0. */
static int whole_of(const struct pool_shape *shape, struct overlap y,
		    struct overlap x)
{
	const int window = shape->window;

	return (window == 2 || window == 3) && y.to - y.from == window &&
			       x.to - x.from == window ? window : 0;
}

/* Computes a row of outputs. */
static void pool_row(const struct pool_shape *shape, const float *in,
		     struct overlap y, float *out, uint8_t *winners)
{
	for (int p = 0; p < shape->out.width; p++, out += shape->out_stride) {
		const struct overlap x = span_of(p, shape->window,
						 shape->stride, shape->pad,
						 shape->in.width);
		const int whole = whole_of(shape, y, x);

		for (int c = 0; c < shape->in.channels; c += LANES) {
			const struct lanes lanes = lanes_from(shape, c);

			if (whole == 2)
				pool_window(window_of(shape, 2, y, x), in,
					    lanes, out, winners);
			else if (whole == 3)
				pool_window(window_of(shape, 3, y, x), in,
					    lanes, out, winners);
			else
				pool_window(window_of(shape, 0, y, x), in,
					    lanes, out, winners);
		}
		if (winners)
			winners += shape->winners_stride;
	}
}

void VEC_NAME(pooling_maxpool)(const struct pool_shape *shape, const float *in,
			       float *out, uint8_t *winners)
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

/* Adds the gradient to each pixel of the window, in the lanes where it won. */
INLINE void unpool_window(struct pool_window is, const float *dy,
			  const uint8_t *winners, struct lanes lanes, float *dx)
{
	const vec gradient = lanes_load(dy, lanes);

	for (int r = 0; r < is.rows; r++)
		for (int c = 0; c < is.columns; c++) {
			float *at = dx + is.at + (size_t)r * is.row +
				    (size_t)c * is.pixel;
			const int here = is.first + r * is.window + c;
			const mask won = mask_of_bytes(winners + lanes.first,
						       (uint8_t)here);

			lanes_store(at, lanes_load(at, lanes) +
						vec_keep(won, gradient),
				    lanes);
		}
}

static void unpool_row(const struct pool_shape *shape, const float *dy,
		       const uint8_t *winners, struct overlap y, float *dx)
{
	for (int p = 0; p < shape->out.width; p++, dy += shape->out_stride) {
		const struct overlap x = span_of(p, shape->window,
						 shape->stride, shape->pad,
						 shape->in.width);
		const int whole = whole_of(shape, y, x);

		for (int c = 0; c < shape->in.channels; c += LANES) {
			const struct lanes lanes = lanes_from(shape, c);

			if (whole == 2)
				unpool_window(window_of(shape, 2, y, x), dy,
					      winners, lanes, dx);
			else if (whole == 3)
				unpool_window(window_of(shape, 3, y, x), dy,
					      winners, lanes, dx);
			else
				unpool_window(window_of(shape, 0, y, x), dy,
					      winners, lanes, dx);
		}
		winners += shape->winners_stride;
	}
}

void VEC_NAME(pooling_maxpool_backward)(const struct pool_shape *shape,
					const float *dy, const uint8_t *winners,
					float *dx)
{
	for (int p = 0; p < shape->out.height; p++) {
		unpool_row(shape, dy, winners,
			   span_of(p, shape->window, shape->stride, shape->pad,
				   shape->in.height), dx);
		dy += shape->out.width * shape->out_stride;
		winners += shape->out.width * shape->winners_stride;
	}
}

/* Returns the inputs whose mean is output number place of out. */
INLINE struct overlap mean_of(int place, int in, int out)
{
	const int first = place * in / out;

	return (struct overlap){ 0, ((place + 1) * in + out - 1) / out - first,
				 first };
}

/* pixels per float sum: longer sums lose their last digits. */
#define SUMMED 64
#define STRIP 512 /* channels whose sums stay in the cache */

/* Computes the means over a window for up to STRIP channels; in is the plane's
 * first pixel. */
static void strip_mean(const struct pool_shape *shape, struct overlap y,
		       struct overlap x, int channels, const float *restrict in,
		       float *restrict out)
{
	const int count = y.to * x.to;
	const double share = 1. / count;
	double means[STRIP] = { 0 };

	for (int first = 0; first < count; first += SUMMED) {
		const int last = count - first < SUMMED ? count :
							  first + SUMMED;
		float sums[STRIP] = { 0 };

		for (int i = first; i < last; i++) {
			const int pixel = (y.first + i / x.to) *
						  shape->in.width +
					  x.first + i % x.to;
			const float *from = in + (size_t)pixel *
						 (size_t)shape->in_stride;

			for (int c = 0; c < channels; c++)
				sums[c] += from[c];
		}
		for (int c = 0; c < channels; c++)
			means[c] += (double)sums[c];
	}
	for (int c = 0; c < channels; c++)
		out[c] = (float)(means[c] * share);
}

void VEC_NAME(pooling_avgpool)(const struct pool_shape *shape,
			       const float *restrict in, float *restrict out)
{
	const int channels = shape->in.channels;

	for (int p = 0; p < shape->out.height * shape->out.width; p++) {
		const struct overlap y = mean_of(p / shape->out.width,
						 shape->in.height,
						 shape->out.height);
		const struct overlap x = mean_of(p % shape->out.width,
						 shape->in.width,
						 shape->out.width);

		for (int c = 0; c < channels; c += STRIP)
			strip_mean(shape, y, x,
				   channels - c < STRIP ? channels - c : STRIP,
				   in + c, out + c);
		out += shape->out_stride;
	}
}

void VEC_NAME(pooling_avgpool_backward)(const struct pool_shape *shape,
					const float *dy, float *dx)
{
	const int channels = shape->in.channels;

	for (int p = 0; p < shape->out.height * shape->out.width; p++) {
		const struct overlap y = mean_of(p / shape->out.width,
						 shape->in.height,
						 shape->out.height);
		const struct overlap x = mean_of(p % shape->out.width,
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
