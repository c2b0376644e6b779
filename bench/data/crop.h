/*
 * Which part of an image a model sees, as torchvision's transforms choose it:
 * to test, Resize(round(size * 256 / 224)) and CenterCrop(size), where size is
 * the larger side of the model's input; to train, RandomResizedCrop(size), of 8
 * to 100 % of the area and ratios of 3/4 to 4/3, and RandomHorizontalFlip.
 *
 * The draws are Philox's (models/random.h), of seed, epoch and sample alone:
 * try t takes the words at (t, sample, epoch, 2^32 - 1) for area, ratio (of
 * which the logarithm is uniform), top and left, and an image is mirrored where
 * the first word of try 10 is less than 2^31. No layer has that number, so that
 * dropout's words are others.
 */
#ifndef BENCH_DATA_CROP_H
#define BENCH_DATA_CROP_H

#include <stdint.h>

#include "bench/data/resize.h"

struct crop_key {
	unsigned long long seed;
	uint32_t epoch; /* from 0 */
};

struct crop {
	int top, left; /* of a box in the image, whose sides ... */
	struct resize_span down, across; /* ... are these, resized */
	int is_mirrored; /* left and right, afterwards */
};

/* Of an image of height x width, to an input of to_height x to_width. */
void crop_draw(struct crop *crop, const struct crop_key *key, uint32_t sample,
	       int height, int width, int to_height, int to_width);
void crop_center(struct crop *crop, int height, int width, int to_height,
		 int to_width);

#endif
