/*
 * Decodes JPEG and PNG files to pixels of 8 bits, grey or RGB, like Pillow's
 * convert('RGB'). Palettes are resolved, alpha is dropped, CMYK becomes RGB by
 * its formula, and orientation in metadata is ignored. The upper 8 of 16 bits
 * are used (Pillow clips grey ones at 255).
 *
 * A file that Pillow refuses is ERROR_INPUT, with the file's name first. A file
 * that Pillow reads is read. It may be a PNG without an end after the pixels,
 * or with a larger window than announced. The CRC of a PNG's pixels may be
 * wrong: their Adler-32 decides. It may be JPEG data that libjpeg repairs with
 * a warning. tests/images/compare tests this with folders of images. An
 * ancillary chunk of a PNG is refused for its CRC only, not for its content.
 */
#ifndef BENCH_DATA_IMAGES_IMAGE_H
#define BENCH_DATA_IMAGES_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "backends/contract/error.h"

/* More pixels are refused as a decompression bomb, as in Pillow: a small file
 * could need a gigabyte with its copy. */
#define IMAGE_MOST_PIXELS 178956970

struct image {
	int height, width;
	int channels;	 /* 1: grey, 3: RGB */
	uint8_t *pixels; /* [height][width][channels] */
};

/* A file in memory. */
struct image_file {
	const char *name;
	const uint8_t *bytes;
	size_t count;
	int most_pixels; /* more are an error, before memory is allocated */
	int sides_only;	 /* 1: pixels stay NULL and are not decoded */
};

/* Reads an image; its content decides the format. Release image after
 * success. */
int image_read(const char *path, struct image *image, struct error *err);
/* Reads only the sides and channels; pixels is NULL. */
int image_read_sides(const char *path, struct image *image, struct error *err);
int image_decode(const struct image_file *file, struct image *image,
		 struct error *err);
void image_release(struct image *image);

/* Converts to grey like Pillow's convert('L'). A grey image is unchanged. */
void image_make_grey(struct image *image);

#endif
