#include "bench/run/transform.h"

#include <stdlib.h>
#include <string.h>

#include "bench/run/resize.h"

#define BYTE_VALUES 256

struct transform {
	const struct dataset *dataset;
	const struct model *model;
	struct resize resize;
	uint8_t *made;	  /* an image that the data set makes when asked */
	uint8_t *scratch; /* of what resizes */
	uint8_t *pixels;  /* a plane of the model's size */
	float tables[MODEL_PIXEL_CHANNELS][BYTE_VALUES];
};

static int is_resized(const struct transform *transform)
{
	const struct shape from = transform->dataset->shape;
	const struct shape in = transform->model->input;

	return from.height != in.height || from.width != in.width;
}

void transform_image(struct transform *transform, const struct samples *samples,
		     int index, float *image)
{
	const struct shape from = transform->dataset->shape;
	const struct shape in = transform->model->input;
	const size_t plane = (size_t)from.height * (size_t)from.width;
	const size_t size = (size_t)in.height * (size_t)in.width;
	const uint8_t *bytes = dataset_image(transform->dataset, samples, index,
					     transform->scratch,
					     transform->made);
	const uint8_t *pixels = NULL;

	for (int c = 0; c < in.channels; c++, image += size) {
		const float *table =
			transform->tables[c % MODEL_PIXEL_CHANNELS];

		if (c < from.channels)
			pixels = bytes + (size_t)c * plane;
		if (c < from.channels && is_resized(transform)) {
			const struct resize_source part = {
				pixels, (size_t)from.width, 1
			};

			resize_plane(&transform->resize, &part,
				     transform->scratch, transform->pixels,
				     (size_t)in.width);
			pixels = transform->pixels;
		}
		for (size_t i = 0; i < size; i++)
			image[i] = table[pixels[i]];
	}
}

const float *transform_table(const struct transform *transform)
{
	const struct shape from = transform->dataset->shape;
	const struct shape in = transform->model->input;

	if (memcmp(&from, &in, sizeof(in)) || transform->dataset->pool.count)
		return NULL;
	for (int c = 1; c < in.channels && c < MODEL_PIXEL_CHANNELS; c++)
		if (memcmp(transform->tables[c], transform->tables[0],
			   sizeof(transform->tables[c])))
			return NULL;
	return transform->tables[0];
}

static int allocate(struct transform *transform)
{
	const struct dataset *dataset = transform->dataset;
	const struct shape from = dataset->shape, in = transform->model->input;
	size_t scratch = dataset_scratch_size(dataset);

	if (resize_make(&transform->resize, from.height, from.width, in.height,
			in.width))
		return -1;
	if (scratch < resize_scratch_size(&transform->resize))
		scratch = resize_scratch_size(&transform->resize);
	transform->scratch = malloc(scratch);
	transform->made = malloc(shape_size(from));
	transform->pixels = malloc((size_t)in.height * (size_t)in.width);
	return transform->scratch && transform->made && transform->pixels ?
		       0 : -1;
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
	resize_release(&transform->resize);
	free(transform->made);
	free(transform->scratch);
	free(transform->pixels);
	free(transform);
}
