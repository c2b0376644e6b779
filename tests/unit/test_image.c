/* Image files: tests/images as Pillow decodes them, and bad ones. */
#include "bench/data/images/image.h"

#include <zlib.h>

#include "tests/cmocka.h"
#include "tests/unit/folder.h"

#define IMAGES "tests/images/"
#define MOST 4096 /* bytes of a file */

static uint8_t bytes[MOST];

/* Its bytes; returns how many. */
static size_t load(const char *name)
{
	char path[200];
	FILE *file;
	size_t count;

	snprintf(path, sizeof(path), IMAGES "%s", name);
	file = fopen(path, "rb");
	if (!file)
		fail_msg("%s is not there", path);
	count = fread(bytes, 1, MOST, file);
	fclose(file);
	assert_true(count > 0 && count < MOST);
	return count;
}

static int decode(size_t count, int most_pixels, struct image *image,
		  struct error *err)
{
	const struct image_file file = { .name = "name", .bytes = bytes,
					 .count = count,
					 .most_pixels = most_pixels };

	err->message[0] = '\0';
	return image_decode(&file, image, err);
}

static void assert_refused(size_t count, const char *words)
{
	struct image image;
	struct error err;

	if (!decode(count, IMAGE_MOST_PIXELS, &image, &err))
		fail_msg("%zu bytes were an image, not: %s", count, words);
	assert_null(image.pixels);
	assert_int_equal(err.kind, ERROR_INPUT);
	if (strncmp(err.message, "name: ", 6) || !strstr(err.message, words))
		fail_msg("%s, not: %s", err.message, words);
}

static void pixels_are_those_of_pillow(void **state)
{
	FILE *golden = fopen(IMAGES "images.csv", "r");
	int channels, height, width, rows = 0;
	unsigned right;
	char name[64];

	(void)state;
	assert_non_null(golden);
	assert_int_equal(fscanf(golden, "%*s\n"), 0);
	for (; fscanf(golden, "%63[^,],%d,%d,%d,%x,%*d,%*x\n", name, &channels,
		      &height, &width, &right) == 5; rows++) {
		static uint8_t pixels[3 * MOST];
		char path[200];
		struct image image, sides;
		struct error err;

		snprintf(path, sizeof(path), IMAGES "%s", name);
		if (image_read_sides(path, &sides, &err) ||
		    image_read(path, &image, &err))
			fail_msg("%s", err.message);
		assert_null(sides.pixels);
		assert_int_equal(sides.height, height);
		assert_int_equal(sides.width, width);
		assert_int_equal(sides.channels, image.channels);
		assert_int_equal(image.height, height);
		assert_int_equal(image.width, width);
		assert_true(height * width <= MOST);
		if (channels == 1)
			image_make_grey(&image);
		for (int i = 0; i < height * width * channels; i++)
			pixels[i] = image.pixels[image.channels == 1 ?
						 i / channels : i];
		if (crc32(0, pixels, (uInt)(height * width * channels)) !=
		    right)
			fail_msg("%s, %d channels: other pixels", name,
				 channels);
		image_release(&image);
	}
	assert_true(feof(golden) && rows == 60);
	fclose(golden);
}

/* The pixels of a decoded image in RGB, as a sum of zlib; releases it. */
static unsigned sum_pixels(struct image *image)
{
	static uint8_t pixels[3 * MOST];
	const int count = image->height * image->width * 3;

	assert_true(count <= 3 * MOST);
	for (int i = 0; i < count; i++)
		pixels[i] = image->pixels[image->channels == 1 ? i / 3 : i];
	image_release(image);
	return (unsigned)crc32(0, pixels, (uInt)count);
}

/* After any byte, up to the last that pixels need. */
static void what_is_cut_short_is_refused(void **state)
{
	FILE *golden = fopen(IMAGES "cuts.csv", "r");
	size_t least, rows = 0;
	char name[64];

	(void)state;
	assert_non_null(golden);
	assert_int_equal(fscanf(golden, "%*s\n"), 0);
	for (; fscanf(golden, "%63[^,],%zu\n", name, &least) == 2; rows++) {
		const size_t count = load(name);
		struct image image;
		struct error err;
		unsigned whole;

		assert_int_equal(decode(count, IMAGE_MOST_PIXELS, &image, &err),
				 0);
		whole = sum_pixels(&image);
		for (size_t cut = 0; cut < least; cut++)
			assert_refused(cut, "; replace or remove the file");
		for (size_t cut = least; cut < count; cut++) {
			if (decode(cut, IMAGE_MOST_PIXELS, &image, &err))
				fail_msg("%s: %s", name, err.message);
			assert_int_equal(sum_pixels(&image), whole);
		}
		assert_refused(least - 1, "cut short: its ");
		assert_refused(least * 2 / 3, "cut short: its ");
	}
	assert_true(feof(golden) && rows == 7);
	fclose(golden);
	assert_refused(0, "empty, an image expected");
}

static void broken_images_are_those_of_pillow(void **state)
{
	FILE *golden = fopen(IMAGES "broken.csv", "r");
	int height, width, rows = 0;
	unsigned right;
	char name[64];

	(void)state;
	assert_non_null(golden);
	assert_int_equal(fscanf(golden, "%*s\n"), 0);
	for (; fscanf(golden, "%63[^,],%d,%d,%x\n", name, &height, &width,
		      &right) == 4; rows++) {
		char path[200];
		struct image image;
		struct error err;
		int failed;

		snprintf(path, sizeof(path), IMAGES "broken/%s", name);
		failed = image_read(path, &image, &err);
		if (!height) {
			if (!failed)
				fail_msg("%s was read", name);
			assert_non_null(strstr(err.message, "; replace or "
					       "remove the file"));
			continue;
		}
		if (failed)
			fail_msg("%s", err.message);
		assert_int_equal(image.height, height);
		assert_int_equal(image.width, width);
		if (sum_pixels(&image) != right)
			fail_msg("%s: other pixels", name);
	}
	assert_true(feof(golden) && rows == 15);
	fclose(golden);
}

/* One bit in the middle of the compressed pixels, which PNG has sums for. */
static void damage_is_refused(void **state)
{
	size_t count = load("rgb.png");

	(void)state;
	bytes[count / 2] ^= 4;
	assert_refused(count, "its PNG data cannot be decoded (");
	memcpy(bytes, "GIF89a", 6);
	assert_refused(600, "neither a JPEG nor a PNG image");
}

/* Rows above the damage equal those in *right. */
static void assert_repaired(size_t count, const struct image *right,
			    size_t rows)
{
	const size_t width = (size_t)right->width * (size_t)right->channels;
	struct image image;
	struct error err;

	if (decode(count, IMAGE_MOST_PIXELS, &image, &err))
		fail_msg("%s", err.message);
	assert_int_equal(image.height, right->height);
	assert_int_equal(image.width, right->width);
	assert_memory_equal(image.pixels, right->pixels, rows * width);
	assert_memory_not_equal(image.pixels, right->pixels,
				(size_t)right->height * width);
	image_release(&image);
}

/* What libjpeg only warns of: data that end before the image does, though the
 * file has an end, and bytes that are no code. Its blocks have 16 rows. */
static void damage_that_is_repaired_is_let_pass(void **state)
{
	const size_t count = load("halved.jpg");
	struct image right;
	struct error err;

	(void)state;
	assert_int_equal(decode(count, IMAGE_MOST_PIXELS, &right, &err), 0);
	memcpy(bytes + count - 40, "\377\331", 2);
	assert_repaired(count - 38, &right, 8);
	assert_refused(count - 40, "cut short: its JPEG data ends too early");
	load("halved.jpg");
	memset(bytes + count - 40, 0, 20);
	assert_repaired(count, &right, 8);
	image_release(&right);
}

static void put_number(uint8_t *at, size_t size, unsigned value)
{
	while (size--) {
		at[size] = (uint8_t)value;
		value >>= 8;
	}
}

/* Another size in the header of rgb.png, whose sum is right. */
static size_t resize_png(unsigned width, unsigned height)
{
	const size_t count = load("rgb.png");

	put_number(bytes + 16, 4, width);
	put_number(bytes + 20, 4, height);
	put_number(bytes + 29, 4, (unsigned)crc32(0, bytes + 12, 17));
	return count;
}

/* Nothing is allocated for it. */
static void bombs_are_refused(void **state)
{
	struct image image;
	struct error err;
	size_t count = load("halved.jpg"), at = 2;

	(void)state;
	while (bytes[at + 1] != 0xc0) /* the frame */
		at += 2u + 256u * bytes[at + 2] + bytes[at + 3];
	put_number(bytes + at + 5, 2, 65000);
	put_number(bytes + at + 7, 2, 65500);
	assert_refused(count, "an image of 65500 x 65000 pixels, "
		       "at most 178956970 are allowed; make it smaller");
	put_number(bytes + at + 5, 2, 0);
	assert_refused(count, "its JPEG data cannot be decoded (");
	assert_refused(resize_png(13377, 13379),
		       "an image of 13377 x 13379 pixels");
	assert_refused(resize_png(1000001, 1), "cut short: its PNG data");
	assert_refused(resize_png(0, 5), "its PNG data cannot be decoded (");
	/* Exactly as many are fine. */
	count = load("rgb.png");
	assert_int_equal(decode(count, 31 * 23, &image, &err), 0);
	image_release(&image);
	assert_int_equal(decode(count, 31 * 23 - 1, &image, &err), -1);
}

/* What is no file of an image, or none at all. */
static void other_files_are_refused(void **state)
{
	static const char *const words[] = { "No such file", "a regular file",
					     "a regular file", "empty, an" };
	const char *paths[] = { in_folder("missing.png"), folder,
				in_folder("fifo.png"), in_folder("empty.png") };
	struct image image;
	struct error err;

	(void)state;
	assert_int_equal(mkfifo(paths[2], 0600), 0);
	write_file(paths[3], "", 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(image_read(paths[i], &image, &err), -1);
		assert_int_equal(err.kind, ERROR_INPUT);
		if (strncmp(err.message, paths[i], strlen(paths[i])) ||
		    !strstr(err.message, words[i]))
			fail_msg("%s, not: %s", err.message, words[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pixels_are_those_of_pillow),
		cmocka_unit_test(what_is_cut_short_is_refused),
		cmocka_unit_test(broken_images_are_those_of_pillow),
		cmocka_unit_test(damage_is_refused),
		cmocka_unit_test(damage_that_is_repaired_is_let_pass),
		cmocka_unit_test(bombs_are_refused),
		cmocka_unit_test(other_files_are_refused),
	};

	return cmocka_run_group_tests_name("image", tests, folder_make,
					   folder_remove);
}
