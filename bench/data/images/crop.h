/*
 * Chooses the part of an image that a model sees, as torchvision's transforms
 * do. For tests: Resize(round(size * 256 / 224)) and CenterCrop(size), where
 * size is the larger side of the model's input. For training:
 * RandomResizedCrop(size), with 8 to 100 % of the area and ratios of 3/4 to
 * 4/3, and RandomHorizontalFlip.
 *
 * The numbers are Philox's (models/random.h) and depend on seed, epoch and
 * sample only. Try t uses the words at (t, sample, epoch, 2^32 - 1) for area,
 * ratio (with a uniform logarithm), top and left. An image is mirrored if the
 * first word of try 10 is less than 2^31. No layer has that number, so that
 * dropout uses other words.
 */
#ifndef BENCH_DATA_IMAGES_CROP_H
#define BENCH_DATA_IMAGES_CROP_H

#include <stdint.h>

#include "bench/data/images/resize.h"

struct crop_key {
	unsigned long long seed;
	uint32_t epoch; /* from 0 */
};

struct crop {
	int top, left; /* top left corner of a box in the image */
	struct resize_span down, across; /* sides of the box, and their
					    resizing */
	int is_mirrored; /* 1: exchange left and right at the end */
};

/* Draw a part, or take the centre, of an image of height x width, for an input
 * of to_height x to_width. */
void crop_draw(struct crop *crop, const struct crop_key *key, uint32_t sample,
	       int height, int width, int to_height, int to_width);
void crop_center(struct crop *crop, int height, int width, int to_height,
		 int to_width);

#endif
