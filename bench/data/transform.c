#include "bench/data/transform.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/data/images/image.h"
#include "bench/data/images/resize.h"

#define BYTE_VALUES 256

struct transform {
	const struct dataset *dataset;
	const struct model *model;
	struct resize resize;
	uint8_t *made;	  /* an image that the data set makes when asked */
	uint8_t *scratch; /* of what resizes */
	size_t scratch_size;
	uint8_t *pixels;  /* a plane of the model's size */
	float tables[MODEL_PIXEL_CHANNELS][BYTE_VALUES];
};

static int is_resized(const struct transform *transform)
{
	const struct shape from = transform->dataset->shape;
	const struct shape in = transform->model->input;

	return from.height != in.height || from.width != in.width;
}

/* An image of the data set's shape. */
static void draw_held(struct transform *transform,
		      const struct samples *samples, int index, float *image)
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

/* The plane of pixels, from the right where it is mirrored. */
static void scale_plane(const struct transform *transform, int channel,
			int is_mirrored, float *image)
{
	const struct shape in = transform->model->input;
	const float *table = transform->tables[channel];
	const uint8_t *row = transform->pixels;

	for (int y = 0; y < in.height; y++, row += in.width)
		for (int x = 0; x < in.width; x++)
			*image++ = table[row[is_mirrored ? in.width - 1 - x :
							   x]];
}

static int grow_scratch(struct transform *transform, size_t size)
{
	if (size <= transform->scratch_size)
		return 0;
	free(transform->scratch);
	transform->scratch = malloc(size);
	transform->scratch_size = transform->scratch ? size : 0;
	return transform->scratch ? 0 : -1;
}

/* The part of what was read that the model sees. -1: no memory. */
static int cut_image(struct transform *transform, const struct image *read,
		     const struct crop *crop, float *image)
{
	const struct shape in = transform->model->input;
	const size_t size = (size_t)in.height * (size_t)in.width;
	const size_t pixel = (size_t)read->channels;
	struct resize_source source = {
		.row = (size_t)read->width * pixel,
		.pixel = pixel,
	};
	struct resize resize;
	int failed = resize_make_part(&resize, &crop->down, &crop->across) ||
		     grow_scratch(transform, resize_scratch_size(&resize));

	for (int c = 0; !failed && c < in.channels; c++, image += size) {
		source.bytes = read->pixels + (size_t)crop->top * source.row +
			       (size_t)crop->left * pixel + c;
		if (c < read->channels)
			resize_plane(&resize, &source, transform->scratch,
				     transform->pixels, (size_t)in.width);
		scale_plane(transform, c, crop->is_mirrored, image);
	}
	resize_release(&resize);
	return failed ? -1 : 0;
}

static int draw_file(struct transform *transform, const struct samples *samples,
		     int index, const struct crop_key *key, float *image,
		     struct error *err)
{
	const struct shape in = transform->model->input;
	char path[PATH_MAX];
	struct image read;
	struct crop crop;
	int failed;

	folder_path(transform->dataset->folder, samples->files, index, path,
		    sizeof(path));
	if (image_read(path, &read, err))
		return -1;
	if (in.channels == 1)
		image_make_grey(&read);
	if (key)
		crop_draw(&crop, key, (uint32_t)index, read.height, read.width,
			  in.height, in.width);
	else
		crop_center(&crop, read.height, read.width, in.height,
			    in.width);
	failed = cut_image(transform, &read, &crop, image) ?
			 error_memory(err, path) : 0;
	image_release(&read);
	return failed;
}

int transform_image(struct transform *transform, const struct samples *samples,
		    int index, const struct crop_key *key, float *image,
		    struct error *err)
{
	if (samples->files)
		return draw_file(transform, samples, index, key, image, err);
	draw_held(transform, samples, index, image);
	return 0;
}

const float *transform_table(const struct transform *transform)
{
	const struct shape from = transform->dataset->shape;
	const struct shape in = transform->model->input;

	if (memcmp(&from, &in, sizeof(in)) || transform->dataset->pool.count ||
	    transform->dataset->folder)
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

	transform->pixels = malloc((size_t)in.height * (size_t)in.width);
	if (dataset->folder)
		return transform->pixels ? 0 : -1;
	if (resize_make(&transform->resize, from.height, from.width, in.height,
			in.width))
		return -1;
	if (scratch < resize_scratch_size(&transform->resize))
		scratch = resize_scratch_size(&transform->resize);
	transform->scratch = malloc(scratch);
	transform->made = malloc(shape_size(from));
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
