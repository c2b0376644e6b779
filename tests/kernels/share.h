/* A core's samples of a global batch, copied. */
#ifndef TESTS_SHARE_H
#define TESTS_SHARE_H

#include <string.h>

#include "backends/contract/program.h"

/*
 * Samples rank, rank + cores, ... of a global batch, whose images have size
 * floats each; images and labels have room for them.
 */
static inline struct batch share_of(const struct batch *all, size_t size,
				    int rank, int cores, float *images,
				    uint16_t *labels)
{
	struct batch share = *all;

	share.images = images;
	share.labels = labels;
	share.place = rank;
	share.stride = cores;
	share.count = 0;
	for (int p = rank; p < all->count; p += cores) {
		memcpy(images + (size_t)share.count * size,
		       all->images + (size_t)p * size, size * sizeof(*images));
		labels[share.count++] = all->labels[p];
	}
	return share;
}

#endif
