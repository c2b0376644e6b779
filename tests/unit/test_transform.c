/* What a model sees of an image: as Pillow resizes it, in each channel, scaled.
 */
#include "bench/data/transform.h"

#include <zlib.h>

#include "bench/data/images/image.h"
#include "tests/cmocka.h"

#define GOLDEN "tests/golden/resize.csv"
#define IMAGES "tests/images"
#define MOST 65536

static struct transform *open_transform(const struct dataset *dataset,
					const struct model *model)
{
	struct error err;
	struct transform *transform = transform_open(dataset, model, &err);

	if (!transform)
		fail_msg("%s", err.message);
	return transform;
}

/* As golden/make_golden.py makes them, and the CRC-32 of what came of it. */
static uint32_t resize(int height, int width, int to_height, int to_width)
{
	static uint8_t pixels[MOST];
	static float values[MOST];
	const struct model model = { .input = { 1, to_height, to_width } };
	const struct dataset dataset = {
		.shape = { 1, height, width },
		.train = { .count = 1, .images = pixels },
	};
	const int count = to_height * to_width;
	struct transform *transform = open_transform(&dataset, &model);

	assert_true(height * width <= MOST && count <= MOST);
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++)
			pixels[y * width + x] =
				(uint8_t)(37 * x + 101 * y + x * y);
	transform_image(transform, &dataset.train, 0, NULL, values, NULL);
	transform_close(transform);
	for (int i = 0; i < count; i++)
		pixels[i] = (uint8_t)lrintf(values[i] * 255);
	return (uint32_t)crc32(0, pixels, (uInt)count);
}

static void images_are_resized_as_by_pillow(void **state)
{
	FILE *golden = fopen(GOLDEN, "r");
	int height, width, to_height, to_width, rows = 0;
	unsigned right;
	char header[80];

	(void)state;
	assert_non_null(golden);
	assert_non_null(fgets(header, sizeof(header), golden));
	for (; fscanf(golden, "%d,%d,%d,%d,%x\n", &height, &width, &to_height,
		      &to_width, &right) == 5; rows++) {
		const uint32_t made = resize(height, width, to_height,
					     to_width);

		if (made != right)
			fail_msg("%dx%d to %dx%d: %08x, not %08x", height,
				 width, to_height, to_width, made, right);
	}
	assert_true(feof(golden) && rows == 10);
	fclose(golden);
}

/* One channel becomes each of the model's, and each has its own scale. */
static void channels_are_scaled_each(void **state)
{
	static uint8_t pixels[] = { 0, 255, 51, 0, 0, 0, 102, 204, 255 };
	const struct model model = {
		.input = { 3, 1, 3 },
		.scale = { { .5f, .25f, .1f }, { .5f, .125f, .2f } },
	};
	struct dataset dataset = {
		.shape = { 1, 1, 3 },
		.train = { .count = 2, .images = pixels },
	};
	struct transform *transform = open_transform(&dataset, &model);
	float image[9];

	(void)state;
	transform_image(transform, &dataset.train, 2, NULL, image, NULL);
	for (int c = 0; c < 3; c++)
		for (int i = 0; i < 3; i++)
			assert_true(image[3 * c + i] ==
				    ((float)pixels[6 + i] / 255 -
				     model.scale.mean[c]) / model.scale.std[c]);
	assert_null(transform_table(transform));
	transform_close(transform);
	/* Of three channels each is its own. */
	dataset.shape = model.input;
	transform = open_transform(&dataset, &model);
	transform_image(transform, &dataset.train, 0, NULL, image, NULL);
	assert_true(image[0] == -1 && image[1] == 1);
	assert_true(image[3] == -2 && image[8] == (1 - .1f) / .2f);
	assert_null(transform_table(transform));
	transform_close(transform);
}

/* One file of IMAGES, as a data set. */
struct one_file {
	struct folder folder;
	struct dataset dataset;
};

static void open_file(struct one_file *one, const char *name)
{
	const struct folder_sample sample = { .path = name };
	struct error err;

	*one = (struct one_file){ .folder = { .dir = IMAGES, .classes = 1 } };
	one->dataset.folder = &one->folder;
	one->dataset.train.files = &one->folder.train;
	if (folder_add(&one->folder, &one->folder.train, &sample, &err))
		fail_msg("%s", err.message);
	one->dataset.train.count = 1;
}

/* Its bytes as Pillow has them, [row][column][channel]. */
static void see_file(const struct one_file *one, const struct model *model,
		     const struct crop_key *key, uint8_t *pixels)
{
	const int channels = model->input.channels;
	const int size = model->input.height * model->input.width;
	struct transform *transform = open_transform(&one->dataset, model);
	static float image[MOST];
	struct error err;

	assert_true(size * channels <= MOST);
	if (transform_image(transform, &one->dataset.train, 0, key, image,
			    &err))
		fail_msg("%s", err.message);
	assert_null(transform_table(transform));
	transform_close(transform);
	for (int i = 0; i < size * channels; i++)
		pixels[i % size * channels + i / size] =
			(uint8_t)lrintf(image[i] * 255);
}

/* Resize and CenterCrop. */
static void files_are_cut_as_by_pillow(void **state)
{
	FILE *golden = fopen(IMAGES "/images.csv", "r");
	static uint8_t pixels[MOST];
	int channels, size, rows = 0;
	unsigned right;
	char name[64];

	(void)state;
	assert_non_null(golden);
	assert_int_equal(fscanf(golden, "%*s\n"), 0);
	for (; fscanf(golden, "%63[^,],%d,%*d,%*d,%*x,%d,%x\n", name, &channels,
		      &size, &right) == 4; rows++) {
		const struct model model = { .input = { channels, size,
							size } };
		struct one_file one;

		open_file(&one, name);
		see_file(&one, &model, NULL, pixels);
		folder_release(&one.folder);
		if (crc32(0, pixels, (uInt)(size * size * channels)) != right)
			fail_msg("%s, %d channels, cut to %d: other pixels",
				 name, channels, size);
	}
	assert_true(feof(golden) && rows == 60);
	fclose(golden);
}

/* The box that the key draws, resized alone; mirrored, from the right. */
static void files_are_cut_as_the_key_says(void **state)
{
	static uint8_t found[MOST], right[64], scratch[23 * 8];
	const struct model model = { .input = { 3, 8, 8 } };
	struct crop_key key = { .seed = 5 };
	int mirrored = 0;
	struct one_file one;
	struct image image;
	struct error err;

	(void)state;
	open_file(&one, "rgb.png");
	assert_int_equal(image_read(IMAGES "/rgb.png", &image, &err), 0);
	for (; key.epoch < 8; key.epoch++) {
		struct resize resize;
		struct crop crop;

		crop_draw(&crop, &key, 0, 23, 31, 8, 8);
		assert_int_equal(resize_make(&resize, crop.down.from,
					     crop.across.from, 8, 8), 0);
		see_file(&one, &model, &key, found);
		mirrored += crop.is_mirrored;
		for (int c = 0; c < 3; c++) {
			const struct resize_source source = {
				image.pixels + c +
					3 * (31 * crop.top + crop.left),
				3 * 31, 3
			};

			resize_plane(&resize, &source, scratch, right, 8);
			for (int i = 0; i < 64; i++)
				assert_int_equal(
					found[3 * i + c],
					right[crop.is_mirrored ?
						      i / 8 * 8 + 7 - i % 8 :
						      i]);
		}
		resize_release(&resize);
	}
	assert_true(mirrored > 0 && mirrored < 8);
	image_release(&image);
	folder_release(&one.folder);
}

static void a_bad_file_is_told(void **state)
{
	const struct model model = { .input = { 1, 8, 8 } };
	struct transform *transform;
	struct one_file one;
	struct error err;
	float image[64];

	(void)state;
	open_file(&one, "images.csv");
	transform = open_transform(&one.dataset, &model);
	assert_int_equal(transform_image(transform, &one.dataset.train, 0, NULL,
					 image, &err), -1);
	assert_int_equal(err.kind, ERROR_INPUT);
	assert_string_equal(err.message, IMAGES "/images.csv: neither a JPEG "
			    "nor a PNG image; replace or remove the file");
	transform_close(transform);
	folder_release(&one.folder);
}

/* Where a byte's value is all that counts, programs may hold the images. */
static void a_table_may_be_all(void **state)
{
	const struct model scaled = {
		.input = { 1, 2, 2 }, .scale = { { .1307f }, { .3081f } } };
	const struct model other = { .input = { 1, 2, 3 } };
	const struct dataset dataset = { .shape = { 1, 2, 2 } };
	struct transform *transform = open_transform(&dataset, &scaled);
	const float *table = transform_table(transform);

	(void)state;
	assert_non_null(table);
	for (int p = 0; p < 256; p++)
		assert_true(table[p] == ((float)p / 255 - .1307f) / .3081f);
	transform_close(transform);
	transform = open_transform(&dataset, &other);
	assert_null(transform_table(transform));
	transform_close(transform);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(images_are_resized_as_by_pillow),
		cmocka_unit_test(channels_are_scaled_each),
		cmocka_unit_test(a_table_may_be_all),
		cmocka_unit_test(files_are_cut_as_by_pillow),
		cmocka_unit_test(files_are_cut_as_the_key_says),
		cmocka_unit_test(a_bad_file_is_told),
	};

	return cmocka_run_group_tests_name("transform", tests, NULL, NULL);
}
