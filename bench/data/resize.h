/*
 * Images to another size: bilinear and, where they become smaller, antialiased,
 * bit for bit as Pillow 10 does it (libImaging/Resample.c): along rows, then
 * along columns, both rounded to bytes; an output is a mean of inputs whose
 * centres are less than a pixel of the larger image away, by distance, in
 * 22-bit fixed point.
 */
#ifndef BENCH_DATA_RESIZE_H
#define BENCH_DATA_RESIZE_H

#include <stddef.h>
#include <stdint.h>

/* A side, and the part of it that is wanted when it is resized. */
struct resize_span {
	int from;	/* pixels that there are */
	int64_t whole;	/* that would become so many, ... */
	int64_t first;	/* of which those from here on are made, ... */
	int to;		/* so many */
};

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
/* The same where only a part is wanted, for which no more is computed. */
int resize_make_part(struct resize *resize, const struct resize_span *down,
		     const struct resize_span *across);
void resize_release(struct resize *resize); /* all zero is fine */

/* Bytes that resizing a plane needs besides. */
size_t resize_scratch_size(const struct resize *resize);

/* Where bytes of a plane are: a row and a pixel further on. */
struct resize_source {
	const uint8_t *bytes;
	size_t row, pixel;
};

/* Plane to to, whose rows are stride bytes apart; of the same size it is a
 * copy. Scratch is used by one thread at a time. */
void resize_plane(const struct resize *resize,
		  const struct resize_source *plane, uint8_t *scratch,
		  uint8_t *to, size_t stride);

#endif
