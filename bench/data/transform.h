/*
 * Converts a data set's images to a model's inputs: resizes them (resize.h),
 * copies a single channel to all, and scales the values. Images in files are
 * cropped (crop.h) and get the model's number of channels.
 */
#ifndef BENCH_DATA_TRANSFORM_H
#define BENCH_DATA_TRANSFORM_H

#include "bench/data/dataset.h"
#include "bench/data/images/crop.h"

/* Belongs to one data set and model, which outlive it. Only one thread at a
 * time may use it. */
struct transform;

/* Images have one channel, or as many as the model. Images in files may have
 * any number, for models with one or three. Returns NULL if there is no
 * memory. */
struct transform *transform_open(const struct dataset *dataset,
				 const struct model *model, struct error *err);
void transform_close(struct transform *transform); /* NULL is allowed */

/*
 * Converts sample index to image, [channel][row][column] of the model's input.
 * key draws a part of an image in a file; NULL takes the centre. Fails only for
 * images in files; otherwise err may be NULL.
 */
int transform_image(struct transform *transform, const struct samples *samples,
		    int index, const struct crop_key *key, float *image,
		    struct error *err);

/* Returns a table from bytes to values if nothing else is done to an image;
 * otherwise NULL. */
const float *transform_table(const struct transform *transform);

#endif
