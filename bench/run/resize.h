/*
 * Images to another size: bilinear and, where they become smaller, antialiased,
 * bit for bit as Pillow 10 does it (libImaging/Resample.c): along rows, then
 * along columns, both rounded to bytes; an output is a mean of inputs whose
 * centres are less than a pixel of the larger image away, by distance, in
 * 22-bit fixed point.
 */
#ifndef BENCH_RUN_RESIZE_H
#define BENCH_RUN_RESIZE_H

#include <stddef.h>
#include <stdint.h>

/* How each output of an axis is made of inputs: taps of them from first on. */
struct resize_axis {
	int from, to; /* sizes */
	int taps;     /* at most; unused ones weigh 0 */
	int *first;	  /* [to] */
	int32_t *weights; /* [to][taps] */
};

struct resize {
	struct resize_axis across, down;
};

/* Between planes of so many rows and columns; -1: no memory. To be released
 * in any case. */
int resize_make(struct resize *resize, int height, int width, int to_height,
		int to_width);
void resize_release(struct resize *resize); /* all zero is fine */

/* Bytes that resizing a plane needs besides. */
size_t resize_scratch_size(const struct resize *resize);

/* Plane to to, whose rows are stride bytes apart; of the same size it is a
 * copy. Scratch is used by one thread at a time. */
void resize_plane(const struct resize *resize, const uint8_t *plane,
		  uint8_t *scratch, uint8_t *to, size_t stride);

#endif
