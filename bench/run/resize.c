#include "bench/run/resize.h"

#include <math.h>
#include <stdlib.h>

#define FRACTION 22 /* bits behind the point of a weight */

static void axis_release(struct resize_axis *axis)
{
	free(axis->first);
	free(axis->weights);
}

/* What an input of an axis weighs for output i. */
static double weight_of(const struct resize_axis *axis, int i, int input)
{
	const double scale = (double)axis->from / axis->to;
	const double inverse = 1 / fmax(scale, 1); /* as Pillow rounds it */

	return fmax(0, 1 - fabs((input - (i + .5) * scale + .5) * inverse));
}

/* The inputs that output i is made of, and what they weigh. */
static void weigh(struct resize_axis *axis, int i)
{
	const double scale = (double)axis->from / axis->to;
	const double support = fmax(scale, 1), center = (i + .5) * scale;
	const int least = (int)fmax(center - support + .5, 0);
	const int end = (int)fmin(center + support + .5, axis->from);
	int32_t *weights = axis->weights + (size_t)i * (size_t)axis->taps;
	double sum = 0;

	/* Those near an end come with inputs before them that weigh 0. */
	axis->first[i] = least + axis->taps > axis->from ?
				 axis->from - axis->taps : least;
	for (int j = least; j < end; j++)
		sum += weight_of(axis, i, j);
	for (int j = least; j < end; j++)
		weights[j - axis->first[i]] =
			(int32_t)(weight_of(axis, i, j) / sum *
					  (1 << FRACTION) + .5);
}

/* To be released, also after a failure. */
static int axis_make(struct resize_axis *axis, int from, int to)
{
	const int most = 2 * (int)ceil(fmax((double)from / to, 1)) + 1;

	*axis = (struct resize_axis){ .from = from, .to = to,
				      .taps = most < from ? most : from };
	axis->first = malloc((size_t)to * sizeof(*axis->first));
	axis->weights = calloc((size_t)to * (size_t)axis->taps,
			       sizeof(*axis->weights));
	if (!axis->first || !axis->weights)
		return -1;
	for (int i = 0; i < to; i++)
		weigh(axis, i);
	return 0;
}

/* The sum of bytes by weights, rounded. */
static uint8_t round_sum(int32_t sum)
{
	sum = (sum + (1 << (FRACTION - 1))) >> FRACTION;
	return (uint8_t)(sum > UINT8_MAX ? UINT8_MAX : sum);
}

static void resize_across(const struct resize_axis *axis, const uint8_t *pixels,
			  int height, uint8_t *to)
{
	for (int y = 0; y < height; y++) {
		const int32_t *weights = axis->weights;

		for (int x = 0; x < axis->to; x++) {
			const uint8_t *from = pixels + axis->first[x];
			int32_t sum = 0;

			for (int t = 0; t < axis->taps; t++)
				sum += *weights++ * from[t];
			*to++ = round_sum(sum);
		}
		pixels += axis->from;
	}
}

static void resize_down(const struct resize_axis *axis, const uint8_t *rows,
			int width, uint8_t *to, size_t stride)
{
	const int32_t *weights = axis->weights;

	for (int y = 0; y < axis->to; y++, weights += axis->taps, to += stride)
		for (int x = 0; x < width; x++) {
			const uint8_t *from = rows + x +
				(size_t)axis->first[y] * (size_t)width;
			int32_t sum = 0;

			for (int t = 0; t < axis->taps; t++)
				sum += weights[t] * from[t * width];
			to[x] = round_sum(sum);
		}
}

int resize_make(struct resize *resize, int height, int width, int to_height,
		int to_width)
{
	*resize = (struct resize){ .across = { .to = 0 } };
	return axis_make(&resize->across, width, to_width) ||
			       axis_make(&resize->down, height, to_height) ?
		       -1 : 0;
}

void resize_release(struct resize *resize)
{
	axis_release(&resize->across);
	axis_release(&resize->down);
}

size_t resize_scratch_size(const struct resize *resize)
{
	return (size_t)resize->down.from * (size_t)resize->across.to;
}

void resize_plane(const struct resize *resize, const uint8_t *plane,
		  uint8_t *scratch, uint8_t *to, size_t stride)
{
	resize_across(&resize->across, plane, resize->down.from, scratch);
	resize_down(&resize->down, scratch, resize->across.to, to, stride);
}
