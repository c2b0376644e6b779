/*
 * From the bytes of a data set's images to what a model takes: resized to its
 * input (bench/run/resize.h), the same in each of its channels where images
 * have one, and scaled.
 */
#ifndef BENCH_RUN_TRANSFORM_H
#define BENCH_RUN_TRANSFORM_H

#include "bench/run/dataset.h"

/* Of one data set and model, which outlive it; used by one thread at a time. */
struct transform;

/* Images have one channel, or as many as the model's. NULL: no memory. */
struct transform *transform_open(const struct dataset *dataset,
				 const struct model *model, struct error *err);
void transform_close(struct transform *transform); /* NULL is fine */

/* Sample index to image, [channel][row][column] of the model's input. */
void transform_image(struct transform *transform, const struct samples *samples,
		     int index, float *image);

/* What each of the 256 values of a byte becomes, where that is all that is done
 * to an image; else NULL. */
const float *transform_table(const struct transform *transform);

#endif
