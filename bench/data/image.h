/*
 * JPEG and PNG files as pixels of 8 bits, grey or RGB, as Pillow's
 * convert('RGB') makes them: palettes are looked up, alpha is dropped, CMYK
 * becomes RGB by its formula, and what turns an image by its metadata is not
 * heeded. Of 16 bits the upper 8 count (Pillow cuts grey ones off at 255).
 *
 * A file that Pillow refuses is ERROR_INPUT with the file's name first. A file
 * that it reads is read: without an end after the pixels, a PNG with another
 * CRC of its pixels (their Adler-32 decides) or a larger window than it
 * announces, and JPEG data that libjpeg repairs with a warning.
 * tests/images/compare holds folders of images to this. An ancillary chunk of
 * a PNG is refused for its CRC alone, not for its content.
 */
#ifndef BENCH_DATA_IMAGE_H
#define BENCH_DATA_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "backends/contract/error.h"

/* More are taken for a bomb, as Pillow does: a gigabyte of bytes with its copy,
 * of which a file need not have many. */
#define IMAGE_MOST_PIXELS 178956970

struct image {
	int height, width;
	int channels;	 /* 1: grey, 3: RGB */
	uint8_t *pixels; /* [height][width][channels] */
};

/* A file that is in memory. */
struct image_file {
	const char *name;
	const uint8_t *bytes;
	size_t count;
	int most_pixels; /* more are an error: no memory is taken for them */
	int sides_only;	 /* 1: pixels stay NULL, and are not decoded */
};

/* The content tells which of the two it is. image is to be released after
 * success. */
int image_read(const char *path, struct image *image, struct error *err);
/* The sides and channels of a file, which is not decoded: pixels is NULL. */
int image_read_sides(const char *path, struct image *image, struct error *err);
int image_decode(const struct image_file *file, struct image *image,
		 struct error *err);
void image_release(struct image *image);

/* As Pillow's convert('L'), where it is not grey. */
void image_make_grey(struct image *image);

#endif
