/* The two decoders, for image_file.c. */
#ifndef BENCH_DATA_IMAGES_IMAGE_FORMAT_H
#define BENCH_DATA_IMAGES_IMAGE_FORMAT_H

#include "bench/data/images/image.h"

/* After a failure image may have pixels, which the caller frees. */
typedef int image_decoder(const struct image_file *file, struct image *image,
			  struct error *err);
image_decoder image_decode_jpeg, image_decode_png;

/* Allocates an image of the size in the file, unless it is too large. With
 * sides_only, pixels stays NULL, and decoding ends here. */
int image_allocate(struct image *image, const struct image_file *file,
		   size_t height, size_t width, int channels,
		   struct error *err);

/* Fails with "NAME: its JPEG data cannot be decoded (words); ...", or says that
 * it is cut short. */
int image_refuse(const struct image_file *file, const char *format,
		 int is_cut, const char *words, struct error *err);

#endif
