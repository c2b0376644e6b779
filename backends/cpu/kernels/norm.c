/*
 * Batch norm: see backends/cpu/kernels/planes.h.
 *
 * Sums are of floats over ROWS rows, then of doubles: of x less the mean of a
 * few of its channel's values, which makes the variance right to 1e-7 however
 * far the mean is from 0, where that of x itself is off by 3 % at a mean of
 * 1000 deviations. One value alone may be the only one behind a ReLU that is
 * not 0, and far from all others.
 */
#include "backends/cpu/kernels/planes_kernels.h"

#define ROWS 16 /* a sum of equal floats is off by their number of roundings */
#define CHANNELS 16 /* whose sums are in registers together */
#define SAMPLES 16 /* rows that a channel's shift is the mean of, at most */

struct sums {
	float a[CHANNELS], b[CHANNELS];
};

/* count rows of up to CHANNELS channels, a constant where it can be. */
INLINE void add_squares(const float *x, const float *shift, size_t count,
			int stride, int channels, struct sums *sums)
{
	for (size_t r = 0; r < count; r++, x += stride)
		for (int c = 0; c < channels; c++) {
			const float off = x[c] - shift[c];

			sums->a[c] += off;
			sums->b[c] += off * off;
		}
}

INLINE void add_products(const float *x, const float *dy, const float *mean,
			 size_t count, int stride, int channels,
			 struct sums *sums)
{
	for (size_t r = 0; r < count; r++, x += stride, dy += stride)
		for (int c = 0; c < channels; c++) {
			sums->a[c] += dy[c];
			sums->b[c] += dy[c] * (x[c] - mean[c]);
		}
}

INLINE size_t rows_here(const struct norm_rows *rows, size_t first)
{
	return rows->count - first < ROWS ? rows->count - first : ROWS;
}

INLINE int channels_here(const struct norm_rows *rows, int first)
{
	return rows->channels - first < CHANNELS ? rows->channels - first :
						   CHANNELS;
}

INLINE void add_sums(const struct sums *sums, int count, double *a, double *b)
{
	for (int c = 0; c < count; c++) {
		a[c] += sums->a[c];
		b[c] += sums->b[c];
	}
}

/* Of rows that are equally far apart. */
static void find_shift(const struct norm_rows *rows, const float *x, int first,
		       int channels, float *shift)
{
	const size_t samples = rows->count < SAMPLES ? rows->count : SAMPLES;
	const size_t apart = rows->count / samples * (size_t)rows->stride;

	for (int c = 0; c < channels; c++) {
		float sum = 0;

		for (size_t s = 0; s < samples; s++)
			sum += x[s * apart + (size_t)(first + c)];
		shift[c] = sum / (float)samples;
	}
}

/* The moments of up to CHANNELS channels. */
static void moments_of(const struct norm_rows *rows, const float *x, int first,
		       double *mean, double *variance)
{
	const int here = channels_here(rows, first);
	const double count = (double)rows->count;
	double a[CHANNELS] = { 0 }, b[CHANNELS] = { 0 };
	float shift[CHANNELS];

	find_shift(rows, x, first, here, shift);
	for (size_t r = 0; r < rows->count; r += ROWS) {
		const float *from = x + r * (size_t)rows->stride + first;
		struct sums sums = { { 0 }, { 0 } };

		if (here == CHANNELS)
			add_squares(from, shift, rows_here(rows, r),
				    rows->stride, CHANNELS, &sums);
		else
			add_squares(from, shift, rows_here(rows, r),
				    rows->stride, here, &sums);
		add_sums(&sums, here, a, b);
	}
	for (int c = 0; c < here; c++) {
		const double off = a[c] / count;
		const double square = b[c] / count - off * off;

		mean[first + c] = off + shift[c];
		variance[first + c] = square < 0 ? 0 : square;
	}
}

void ISA_NAME(norm_moments)(const struct norm_rows *rows, const float *x,
			    double *mean, double *variance)
{
	for (int c = 0; c < rows->channels; c += CHANNELS)
		moments_of(rows, x, c, mean, variance);
}

void ISA_NAME(norm_forward)(const struct norm_rows *rows,
			    const float *restrict x, const float *restrict mean,
			    const float *restrict scale,
			    const float *restrict bias, float *restrict y)
{
	for (size_t r = 0; r < rows->count; r++) {
		for (int c = 0; c < rows->channels; c++)
			y[c] = (x[c] - mean[c]) * scale[c] + bias[c];
		x += rows->stride;
		y += rows->stride;
	}
}

void ISA_NAME(norm_sums)(const struct norm_rows *rows, const float *x,
			 const float *dy, const float *mean, double *sum,
			 double *product)
{
	for (int c = 0; c < rows->channels; c++)
		sum[c] = product[c] = 0;
	for (size_t r = 0; r < rows->count; r += ROWS)
		for (int c = 0; c < rows->channels; c += CHANNELS) {
			const size_t at = r * (size_t)rows->stride + (size_t)c;
			const int here = channels_here(rows, c);
			struct sums sums = { { 0 }, { 0 } };

			if (here == CHANNELS)
				add_products(x + at, dy + at, mean + c,
					     rows_here(rows, r), rows->stride,
					     CHANNELS, &sums);
			else
				add_products(x + at, dy + at, mean + c,
					     rows_here(rows, r), rows->stride,
					     here, &sums);
			add_sums(&sums, here, sum + c, product + c);
		}
}

void ISA_NAME(norm_backward)(const struct norm_rows *rows,
			     const float *restrict x, const float *dy,
			     const float *restrict mean,
			     const float *restrict scale,
			     const float *restrict sum,
			     const float *restrict product, int adds,
			     float *dx)
{
	for (size_t r = 0; r < rows->count; r++) {
		EACH_ALONE
		for (int c = 0; c < rows->channels; c++) {
			const float off = (x[c] - mean[c]) * product[c];
			const float value = scale[c] * (dy[c] - sum[c] - off);

			dx[c] = adds ? dx[c] + value : value;
		}
		x += rows->stride;
		dy += rows->stride;
		dx += rows->stride;
	}
}
