/*
 * Image files. The first byte chooses whether the image becomes grey, and draws
 * the part of it that is resized; the rest is the file.
 */
#include "bench/data/images/image.h"

#include "bench/data/images/crop.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_corpus[] = "image";

enum {
	GREY = 1,
	CENTER = 2,
	MOST = 1 << 16,	       /* bytes of an input */
	MOST_PIXELS = 1 << 18, /* for speed */
	SIDE = 9
};

/* A part of it, in one colour. */
static void resize_part(const struct image *image, int mode)
{
	const struct crop_key key = { .seed = (unsigned)mode };
	const size_t pixel = (size_t)image->channels;
	struct resize_source source = { .row = (size_t)image->width * pixel,
					.pixel = pixel };
	uint8_t made[SIDE * SIDE], *scratch;
	struct resize resize;
	struct crop crop;

	if (mode & CENTER)
		crop_center(&crop, image->height, image->width, SIDE, SIDE);
	else
		crop_draw(&crop, &key, 0, image->height, image->width, SIDE,
			  SIDE);
	MUST(crop.top >= 0 && crop.top + crop.down.from <= image->height);
	MUST(crop.left >= 0 && crop.left + crop.across.from <= image->width);
	MUST(!resize_make_part(&resize, &crop.down, &crop.across));
	scratch = malloc(resize_scratch_size(&resize));
	MUST(scratch);
	source.bytes = image->pixels + (size_t)crop.top * source.row +
		       (size_t)crop.left * pixel + pixel - 1;
	resize_plane(&resize, &source, scratch, made, SIDE);
	free(scratch);
	resize_release(&resize);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_file file = { .name = "name", .most_pixels = MOST_PIXELS };
	struct error err = { .message = "" };
	struct image image;

	if (size < 1 || size > MOST)
		return -1;
	file.bytes = data + 1;
	file.count = size - 1;
	if (image_decode(&file, &image, &err)) {
		must_be_told(&err, ERROR_INPUT);
		MUST(!strncmp(err.message, "name: ", 6));
		MUST(!image.pixels);
		return 0;
	}
	MUST(image.height > 0 && image.width > 0);
	MUST(image.height <= MOST_PIXELS / image.width);
	MUST(image.channels == 1 || image.channels == 3);
	if (data[0] & GREY)
		image_make_grey(&image);
	resize_part(&image, data[0]);
	image_release(&image);
	return 0;
}
