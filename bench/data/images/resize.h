/*
 * Resizes images: bilinear and, if they become smaller, antialiased, bit for
 * bit like Pillow 10 (libImaging/Resample.c). It works along rows, then along
 * columns, and rounds both to bytes. An output is a mean of inputs less than a
 * pixel of the larger image away, weighted by distance, in 22-bit fixed point.
 */
#ifndef BENCH_DATA_IMAGES_RESIZE_H
#define BENCH_DATA_IMAGES_RESIZE_H

#include <stddef.h>
#include <stdint.h>

/* A side, and the part of it that is resized. */
struct resize_span {
	int from;	/* pixels of the side */
	int64_t whole;	/* pixels of the side after resizing it completely */
	int64_t first;	/* first pixel of the part */
	int to;		/* pixels of the part */
};

/* Weights of an axis: output i is made of taps inputs from first[i] on. */
struct resize_axis {
	int from, to; /* sizes */
	int taps; /* inputs per output, at most; unused ones have weight 0 */
	int *first;	  /* [to] */
	int32_t *weights; /* [to][taps] */
};

struct resize {
	struct resize_axis across, down;
};

/* Prepares resizing of planes of height x width. Returns -1 if there is no
 * memory. Release resize in any case. */
int resize_make(struct resize *resize, int height, int width, int to_height,
		int to_width);
/* Prepares resizing of a part; only that is computed. */
int resize_make_part(struct resize *resize, const struct resize_span *down,
		     const struct resize_span *across);
void resize_release(struct resize *resize); /* all zero is allowed */

/* Returns the bytes of scratch for resizing a plane. */
size_t resize_scratch_size(const struct resize *resize);

/* Bytes of a plane, and the distances to the next row and pixel. */
struct resize_source {
	const uint8_t *bytes;
	size_t row, pixel;
};

/* Resizes plane to to, with rows stride bytes apart. A plane of the same size
 * is copied. Only one thread at a time may use scratch. */
void resize_plane(const struct resize *resize,
		  const struct resize_source *plane, uint8_t *scratch,
		  uint8_t *to, size_t stride);

#endif
