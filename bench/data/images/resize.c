#include "bench/data/images/resize.h"

#include <math.h>
#include <stdlib.h>

#define FRACTION 22 /* fractional bits of a weight */

static void axis_release(struct resize_axis *axis)
{
	free(axis->first);
	free(axis->weights);
}

/* Returns the weight of an input for an output around center. */
static double weight_of(double scale, double center, int input)
{
	const double inverse = 1 / fmax(scale, 1); /* as Pillow rounds it */

	return fmax(0, 1 - fabs((input - center + .5) * inverse));
}

/* The inputs that output i is made of, and what they weigh. */
static void weigh(struct resize_axis *axis, const struct resize_span *span,
		  int i)
{
	const double scale = (double)span->from / (double)span->whole;
	const double support = fmax(scale, 1);
	const double center = ((double)(span->first + i) + .5) * scale;
	const int least = (int)fmax(center - support + .5, 0);
	const int end = (int)fmin(center + support + .5, axis->from);
	int32_t *weights = axis->weights + (size_t)i * (size_t)axis->taps;
	double sum = 0;

	/* Outputs near an end also have inputs with weight 0 before them. */
	axis->first[i] = least + axis->taps > axis->from ?
				 axis->from - axis->taps : least;
	for (int j = least; j < end; j++)
		sum += weight_of(scale, center, j);
	for (int j = least; j < end; j++)
		weights[j - axis->first[i]] =
			(int32_t)(weight_of(scale, center, j) / sum *
					  (1 << FRACTION) + .5);
}

/* Makes an axis. Release it also after a failure. */
static int axis_make(struct resize_axis *axis, const struct resize_span *span)
{
	const double scale = (double)span->from / (double)span->whole;
	const int most = 2 * (int)ceil(fmax(scale, 1)) + 1;

	*axis = (struct resize_axis){
		.from = span->from,
		.to = span->to,
		.taps = most < span->from ? most : span->from,
	};
	axis->first = malloc((size_t)axis->to * sizeof(*axis->first));
	axis->weights = calloc((size_t)axis->to * (size_t)axis->taps,
			       sizeof(*axis->weights));
	if (!axis->first || !axis->weights)
		return -1;
	for (int i = 0; i < axis->to; i++)
		weigh(axis, span, i);
	return 0;
}

/* The sum of bytes by weights, rounded. */
static uint8_t round_sum(int32_t sum)
{
	sum = (sum + (1 << (FRACTION - 1))) >> FRACTION;
	return (uint8_t)(sum > UINT8_MAX ? UINT8_MAX : sum);
}

static void resize_across(const struct resize_axis *axis,
			  const struct resize_source *plane, int top,
			  int height, uint8_t *to)
{
	const size_t pixel = plane->pixel;

	for (int y = top; y < top + height; y++) {
		const uint8_t *row = plane->bytes + (size_t)y * plane->row;
		const int32_t *weights = axis->weights;

		for (int x = 0; x < axis->to; x++) {
			const uint8_t *from = row +
				(size_t)axis->first[x] * pixel;
			int32_t sum = 0;

			for (int t = 0; t < axis->taps; t++, from += pixel)
				sum += *weights++ * *from;
			*to++ = round_sum(sum);
		}
	}
}

/* Resizes along columns, from row top on. */
static void resize_down(const struct resize_axis *axis, const uint8_t *rows,
			int top, int width, uint8_t *to, size_t stride)
{
	const int32_t *weights = axis->weights;

	for (int y = 0; y < axis->to; y++, weights += axis->taps, to += stride)
		for (int x = 0; x < width; x++) {
			const uint8_t *from = rows + x +
				(size_t)(axis->first[y] - top) * (size_t)width;
			int32_t sum = 0;

			for (int t = 0; t < axis->taps; t++)
				sum += weights[t] * from[t * width];
			to[x] = round_sum(sum);
		}
}

int resize_make_part(struct resize *resize, const struct resize_span *down,
		     const struct resize_span *across)
{
	*resize = (struct resize){ .across = { .to = 0 } };
	return axis_make(&resize->across, across) ||
			       axis_make(&resize->down, down) ?
		       -1 : 0;
}

int resize_make(struct resize *resize, int height, int width, int to_height,
		int to_width)
{
	const struct resize_span down = { height, to_height, 0, to_height };
	const struct resize_span across = { width, to_width, 0, to_width };

	return resize_make_part(resize, &down, &across);
}

void resize_release(struct resize *resize)
{
	axis_release(&resize->across);
	axis_release(&resize->down);
}

/* Returns the number of rows that are needed. */
static int wanted_rows(const struct resize_axis *down)
{
	return down->first[down->to - 1] + down->taps - down->first[0];
}

size_t resize_scratch_size(const struct resize *resize)
{
	return (size_t)wanted_rows(&resize->down) * (size_t)resize->across.to;
}

void resize_plane(const struct resize *resize,
		  const struct resize_source *plane, uint8_t *scratch,
		  uint8_t *to, size_t stride)
{
	const int top = resize->down.first[0];

	resize_across(&resize->across, plane, top, wanted_rows(&resize->down),
		      scratch);
	resize_down(&resize->down, scratch, top, resize->across.to, to, stride);
}
