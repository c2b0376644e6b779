/*
 * Batch norm: see backends/cpu/kernels/elementwise/elementwise.h.
 *
 * Sums are floats over ROWS rows, then doubles. They sum x - shift, where shift
 * is the mean of a few values of the channel. The variance is then right to
 * 1e-7 however far the mean is from 0. Without a shift it is off by 3 % at a
 * mean of 1000 deviations. A single value as shift would not do: after a ReLU
 * it may be the only one that is not 0, and far from all others.
 *
 * Ceiling: memory bandwidth. Rows are read one after the other, and the
 * operations that follow batch norm run while its values are in registers. If
 * several rows pass together, the hardware does not prefetch the next ones.
 */
#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/kernels/elementwise/elementwise_kernels.h"

#define ROWS 16 /* rows per float sum; its error grows with their number */
#define TOGETHER 4 /* rows that pass together */
#define STRIP 512 /* channels whose sums stay in the cache */
#define SAMPLES 16 /* rows, at most, whose mean is a channel's shift */
#define AHEAD 1024 /* floats that are prefetched before they are summed */

/* Elements of dy that pass the ReLU after batch norm. */
enum passing {
	PASS_ALL,
	PASS_FOUND, /* where map makes a positive value of x */
	PASS_SEEN   /* where y is positive; the others become 0 in dy */
};

/* Up to ROWS rows of up to STRIP channels. */
struct channel_strip {
	size_t at;   /* offset of the first row's first value */
	int channel; /* the first channel */
	int channels, rows;
};

struct sums {
	float a[STRIP], b[STRIP];
};

INLINE vec load(const float *from, int lanes)
{
	return lanes == LANES ? vec_load(from) : vec_load_first(from, lanes);
}

INLINE void store(float *to, vec value, int lanes)
{
	if (lanes == LANES)
		vec_store(to, value);
	else
		vec_store_first(to, value, lanes);
}

/* Returns value where y is above 0 or a NaN, else 0. */
INLINE vec pass_relu(vec y, vec value)
{
	return (vec)((lanes_int)value & ~(y <= vec_set(0)));
}

INLINE struct channel_strip strip_of(const struct norm_rows *rows, size_t row,
				     int channel)
{
	const size_t left = rows->count - row;
	const int channels = rows->channels - channel;

	return (struct channel_strip){
		.at = row * (size_t)rows->stride + (size_t)channel,
		.channel = channel,
		.channels = channels < STRIP ? channels : STRIP,
		.rows = left < ROWS ? (int)left : ROWS,
	};
}

INLINE void clear_sums(struct sums *sums, int channels)
{
	for (int c = 0; c < channels; c += LANES) {
		vec_store(sums->a + c, vec_set(0));
		vec_store(sums->b + c, vec_set(0));
	}
}

/* Adds a vector of channels, from channel c of the strip on. */
INLINE void add_to_sums(struct sums *sums, int c, vec a, vec b)
{
	vec_store(sums->a + c, vec_load(sums->a + c) + a);
	vec_store(sums->b + c, vec_load(sums->b + c) + b);
}

static void add_strip(const struct channel_strip *strip,
		      const struct sums *sums, double *a, double *b)
{
	for (int c = 0; c < strip->channels; c++) {
		a[strip->channel + c] += (double)sums->a[c];
		b[strip->channel + c] += (double)sums->b[c];
	}
}

/* Sets shift to the mean of up to SAMPLES rows at equal distances. */
static void find_shift(const struct norm_rows *rows, const float *x,
		       float *shift)
{
	const size_t samples = rows->count < SAMPLES ? rows->count : SAMPLES;
	const size_t apart = rows->count / samples * (size_t)rows->stride;

	for (int c = 0; c < rows->channels; c++)
		shift[c] = 0;
	for (size_t s = 0; s < samples; s++)
		for (int c = 0; c < rows->channels; c++)
			shift[c] += x[s * apart + (size_t)c];
	for (int c = 0; c < rows->channels; c++)
		shift[c] /= (float)samples;
}

/* Adds count rows of a vector of channels; count is a constant, and so is lanes
 * unless it is a remainder. */
INLINE void add_squares(const float *x, int stride, int count, int lanes,
			vec shift, int c, struct sums *sums)
{
	vec offs = vec_set(0), squares = vec_set(0);

	UNROLL
	for (int r = 0; r < count; r++) {
		const vec off = load(x + r * stride, lanes) - shift;

		offs += off;
		squares += off * off;
	}
	add_to_sums(sums, c, offs, squares);
}

INLINE void strip_squares(const struct norm_rows *rows,
			  const struct channel_strip *strip, int count,
			  const float *x, const float *shift, struct sums *sums)
{
	const int stride = rows->stride;
	int c = 0;

	shift += strip->channel;
	for (; c + LANES <= strip->channels; c += LANES)
		add_squares(x + c, stride, count, LANES, vec_load(shift + c),
			    c, sums);
	if (c < strip->channels)
		add_squares(x + c, stride, count, strip->channels - c,
			    vec_load_first(shift + c, strip->channels - c), c,
			    sums);
}

static void sum_squares(const struct norm_rows *rows,
			const struct channel_strip *strip, const float *x,
			const float *shift, struct sums *sums)
{
	const size_t stride = (size_t)rows->stride;
	int r = 0;

	x += strip->at;
	for (; r + TOGETHER <= strip->rows; r += TOGETHER)
		strip_squares(rows, strip, TOGETHER, x + (size_t)r * stride,
			      shift, sums);
	for (; r < strip->rows; r++)
		strip_squares(rows, strip, 1, x + (size_t)r * stride, shift,
			      sums);
}

void VEC_NAME(norm_add_moments)(const struct norm_rows *rows, const float *x,
				struct norm_moments *moments)
{
	if (!moments->rows) {
		find_shift(rows, x, moments->shift);
		for (int c = 0; c < rows->channels; c++)
			moments->sum[c] = moments->square[c] = 0;
	}
	for (size_t r = 0; r < rows->count; r += ROWS)
		for (int c = 0; c < rows->channels; c += STRIP) {
			const struct channel_strip strip = strip_of(rows, r, c);
			struct sums sums;

			clear_sums(&sums, strip.channels);
			sum_squares(rows, &strip, x, moments->shift, &sums);
			add_strip(&strip, &sums, moments->sum,
				  moments->square);
		}
	moments->rows += rows->count;
}

/* relu is a constant, and so is other == NULL. */
INLINE void forward_rows(const struct norm_rows *rows,
			 const struct norm_map *map,
			 const float *restrict x, const float *restrict other,
			 int relu, float *restrict y)
{
	const float *restrict mean = map->mean, *restrict scale = map->scale;
	const float *restrict bias = map->bias;

	for (size_t r = 0; r < rows->count; r++) {
		for (int c = 0; c < rows->channels; c++) {
			const float value = (x[c] - mean[c]) * scale[c] +
					    bias[c];
			const float sum = other ? value + other[c] : value;

			/* A NaN fails the comparison and passes. */
			y[c] = relu && sum <= 0 ? 0 : sum;
		}
		x += rows->stride;
		y += rows->stride;
		if (other)
			other += rows->stride;
	}
}

void VEC_NAME(norm_forward)(const struct norm_rows *rows,
			    const struct norm_map *map,
			    const float *x,
			    const float *other, int relu, float *y)
{
	if (other && relu)
		forward_rows(rows, map, x, other, 1, y);
	else if (other)
		forward_rows(rows, map, x, other, 0, y);
	else if (relu)
		forward_rows(rows, map, x, NULL, 1, y);
	else
		forward_rows(rows, map, x, NULL, 0, y);
}

/* Arguments of norm_sums(). */
struct norm_backward {
	const struct norm_rows *rows;
	const struct norm_map *map;
	const float *x, *y;
	float *dy;
};

/* Adds count rows of a vector of channels, from offset at on; count and passing
 * are constants, and so is lanes unless it is a remainder. */
INLINE void add_products(const struct norm_backward *is, enum passing passing,
			 size_t at, int count, int channel, int lanes, int c,
			 struct sums *sums)
{
	const vec mean = load(is->map->mean + channel, lanes);
	vec scale = vec_set(0), bias = vec_set(0);
	vec all = vec_set(0), products = vec_set(0);

	if (passing == PASS_FOUND) {
		scale = load(is->map->scale + channel, lanes);
		bias = load(is->map->bias + channel, lanes);
	}
	UNROLL
	for (int r = 0; r < count; r++, at += (size_t)is->rows->stride) {
		const vec off = load(is->x + at, lanes) - mean;
		vec value = load(is->dy + at, lanes);

		fetch(is->x, (ptrdiff_t)at + AHEAD);
		fetch(is->dy, (ptrdiff_t)at + AHEAD);
		if (passing == PASS_FOUND)
			value = pass_relu(off * scale + bias, value);
		if (passing == PASS_SEEN) {
			fetch(is->y, (ptrdiff_t)at + AHEAD);
			value = pass_relu(load(is->y + at, lanes), value);
			store(is->dy + at, value, lanes);
		}
		all += value;
		products += value * off;
	}
	add_to_sums(sums, c, all, products);
}

INLINE void strip_products(const struct norm_backward *is, enum passing passing,
			   const struct channel_strip *strip, size_t at,
			   int count, struct sums *sums)
{
	int c = 0;

	for (; c + LANES <= strip->channels; c += LANES)
		add_products(is, passing, at + (size_t)c, count,
			     strip->channel + c, LANES, c, sums);
	if (c < strip->channels)
		add_products(is, passing, at + (size_t)c, count,
			     strip->channel + c, strip->channels - c, c, sums);
}

INLINE void sum_products(const struct norm_backward *is, enum passing passing,
			 const struct channel_strip *strip, struct sums *sums)
{
	const size_t stride = (size_t)is->rows->stride;
	int r = 0;

	for (; r + TOGETHER <= strip->rows; r += TOGETHER)
		strip_products(is, passing, strip,
			       strip->at + (size_t)r * stride, TOGETHER, sums);
	for (; r < strip->rows; r++)
		strip_products(is, passing, strip,
			       strip->at + (size_t)r * stride, 1, sums);
}

INLINE void sum_rows(const struct norm_backward *is, enum passing passing,
		     double *sum, double *product)
{
	const struct norm_rows *rows = is->rows;

	for (int c = 0; c < rows->channels; c++)
		sum[c] = product[c] = 0;
	for (size_t r = 0; r < rows->count; r += ROWS)
		for (int c = 0; c < rows->channels; c += STRIP) {
			const struct channel_strip strip = strip_of(rows, r, c);
			struct sums sums;

			clear_sums(&sums, strip.channels);
			sum_products(is, passing, &strip, &sums);
			add_strip(&strip, &sums, sum, product);
		}
}

void VEC_NAME(norm_sums)(const struct norm_rows *rows,
			 const struct norm_map *map,
			 const float *x, int relu, const float *y, float *dy,
			 double *sum, double *product)
{
	const struct norm_backward is = { rows, map, x, y, dy };

	if (!relu)
		sum_rows(&is, PASS_ALL, sum, product);
	else if (y)
		sum_rows(&is, PASS_SEEN, sum, product);
	else
		sum_rows(&is, PASS_FOUND, sum, product);
}

/* relu and adds are constants. */
INLINE void backward_rows(const struct norm_rows *rows,
			  const struct norm_map *map,
			  const float *restrict x, int relu, const float *dy,
			  const float *restrict sum,
			  const float *restrict product, int adds, float *dx)
{
	const float *restrict mean = map->mean, *restrict scale = map->scale;
	const float *restrict bias = map->bias;

	for (size_t r = 0; r < rows->count; r++) {
		EACH_ALONE
		for (int c = 0; c < rows->channels; c++) {
			const float off = x[c] - mean[c];
			const float y = off * scale[c] + bias[c];
			const float passed = relu && y <= 0 ? 0 : dy[c];
			const float value = scale[c] * (passed - sum[c] -
							off * product[c]);

			dx[c] = adds ? dx[c] + value : value;
		}
		x += rows->stride;
		dy += rows->stride;
		dx += rows->stride;
	}
}

void VEC_NAME(norm_backward)(const struct norm_rows *rows,
			     const struct norm_map *map,
			     const float *x, int relu,
			     const float *dy, const float *sum,
			     const float *product, int adds, float *dx)
{
	if (relu && adds)
		backward_rows(rows, map, x, 1, dy, sum, product, 1, dx);
	else if (relu)
		backward_rows(rows, map, x, 1, dy, sum, product, 0, dx);
	else if (adds)
		backward_rows(rows, map, x, 0, dy, sum, product, 1, dx);
	else
		backward_rows(rows, map, x, 0, dy, sum, product, 0, dx);
}
