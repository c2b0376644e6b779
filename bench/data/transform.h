/*
 * From the bytes of a data set's images to what a model takes: resized to its
 * input (bench/data/resize.h), the same in each of its channels where images
 * have one, and scaled. Of images in files it is a part (bench/data/crop.h),
 * whose channels become as many as the model has.
 */
#ifndef BENCH_DATA_TRANSFORM_H
#define BENCH_DATA_TRANSFORM_H

#include "bench/data/crop.h"
#include "bench/data/dataset.h"

/* Of one data set and model, which outlive it; used by one thread at a time. */
struct transform;

/* Images have one channel, or as many as the model's; those in files whatever
 * they have, for models of one or three. NULL: no memory. */
struct transform *transform_open(const struct dataset *dataset,
				 const struct model *model, struct error *err);
void transform_close(struct transform *transform); /* NULL is fine */

/*
 * Sample index to image, [channel][row][column] of the model's input. Of files
 * the key draws a part; without it, it is the middle. Nothing but a file can be
 * wrong: of other data sets it always returns 0, and err may be NULL.
 */
int transform_image(struct transform *transform, const struct samples *samples,
		    int index, const struct crop_key *key, float *image,
		    struct error *err);

/* What each of the 256 values of a byte becomes, where that is all that is done
 * to an image; else NULL. */
const float *transform_table(const struct transform *transform);

#endif
