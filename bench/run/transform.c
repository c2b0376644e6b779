#include "bench/run/transform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BYTE_VALUES 256
#define FRACTION 22 /* bits behind the point of a weight */

/* How each output of an axis is made of inputs: taps of them from first on. */
struct axis {
	int from, to; /* sizes */
	int taps;     /* at most; unused ones weigh 0 */
	int *first;	 /* [to] */
	int32_t *weights; /* [to][taps] */
};

struct transform {
	const struct dataset *dataset;
	const struct model *model;
	struct axis across, down;
	uint8_t *rows;	 /* resized across: [height][model's width] */
	uint8_t *pixels; /* resized: [model's height][model's width] */
	float tables[MODEL_PIXEL_CHANNELS][BYTE_VALUES];
};

static void axis_release(struct axis *axis)
{
	free(axis->first);
	free(axis->weights);
}

/* What an input of an axis weighs for output i. */
static double weight_of(const struct axis *axis, int i, int input)
{
	const double scale = (double)axis->from / axis->to;
	const double inverse = 1 / fmax(scale, 1); /* as Pillow rounds it */

	return fmax(0, 1 - fabs((input - (i + .5) * scale + .5) * inverse));
}

/* The inputs that output i is made of, and what they weigh. */
static void weigh(struct axis *axis, int i)
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
static int axis_make(struct axis *axis, int from, int to)
{
	const int most = 2 * (int)ceil(fmax((double)from / to, 1)) + 1;

	*axis = (struct axis){ .from = from, .to = to,
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

static void resize_across(const struct axis *axis, const uint8_t *pixels,
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

static void resize_down(const struct axis *axis, const uint8_t *rows, int width,
			uint8_t *to)
{
	const int32_t *weights = axis->weights;

	for (int y = 0; y < axis->to; y++, weights += axis->taps)
		for (int x = 0; x < width; x++) {
			const uint8_t *from = rows + x +
				(size_t)axis->first[y] * (size_t)width;
			int32_t sum = 0;

			for (int t = 0; t < axis->taps; t++)
				sum += weights[t] * from[t * width];
			*to++ = round_sum(sum);
		}
}

/* One plane; the same size stays as it is, and is not copied. */
static const uint8_t *resize(struct transform *transform, const uint8_t *plane)
{
	const struct axis *across = &transform->across;
	const struct axis *down = &transform->down;

	if (across->from != across->to) {
		resize_across(across, plane, down->from, transform->rows);
		plane = transform->rows;
	}
	if (down->from != down->to) {
		resize_down(down, plane, across->to, transform->pixels);
		plane = transform->pixels;
	}
	return plane;
}

void transform_image(struct transform *transform, const struct samples *samples,
		     int index, float *image)
{
	const struct shape from = transform->dataset->shape;
	const struct shape in = transform->model->input;
	const size_t plane = (size_t)from.height * (size_t)from.width;
	const size_t size = (size_t)in.height * (size_t)in.width;
	const uint8_t *bytes = samples->images +
			       (size_t)index * shape_size(from);
	const uint8_t *pixels = NULL;

	for (int c = 0; c < in.channels; c++, image += size) {
		const float *table =
			transform->tables[c % MODEL_PIXEL_CHANNELS];

		if (c < from.channels)
			pixels = resize(transform, bytes + (size_t)c * plane);
		for (size_t i = 0; i < size; i++)
			image[i] = table[pixels[i]];
	}
}

const float *transform_table(const struct transform *transform)
{
	const struct shape from = transform->dataset->shape;
	const struct shape in = transform->model->input;

	if (memcmp(&from, &in, sizeof(in)))
		return NULL;
	for (int c = 1; c < in.channels && c < MODEL_PIXEL_CHANNELS; c++)
		if (memcmp(transform->tables[c], transform->tables[0],
			   sizeof(transform->tables[c])))
			return NULL;
	return transform->tables[0];
}

static int allocate(struct transform *transform)
{
	const struct shape from = transform->dataset->shape;
	const struct shape in = transform->model->input;
	const size_t width = (size_t)in.width;

	transform->rows = malloc((size_t)from.height * width);
	transform->pixels = malloc((size_t)in.height * width);
	return transform->rows && transform->pixels &&
	       !axis_make(&transform->across, from.width, in.width) &&
	       !axis_make(&transform->down, from.height, in.height) ? 0 : -1;
}

struct transform *transform_open(const struct dataset *dataset,
				 const struct model *model, struct error *err)
{
	struct transform *transform = calloc(1, sizeof(*transform));

	if (!transform) {
		error_memory(err, "the images' transform");
		return NULL;
	}
	transform->dataset = dataset;
	transform->model = model;
	for (int c = 0; c < MODEL_PIXEL_CHANNELS; c++)
		for (int p = 0; p < BYTE_VALUES; p++)
			transform->tables[c][p] = model_pixel(model, c, p);
	if (allocate(transform)) {
		transform_close(transform);
		error_memory(err, "the images' transform");
		return NULL;
	}
	return transform;
}

void transform_close(struct transform *transform)
{
	if (!transform)
		return;
	axis_release(&transform->across);
	axis_release(&transform->down);
	free(transform->rows);
	free(transform->pixels);
	free(transform);
}
