/* What a model sees of an image: as Pillow resizes it, in each channel, scaled.
 */
#include "bench/run/transform.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define GOLDEN "tests/golden/resize.csv"
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
	transform_image(transform, &dataset.train, 0, values);
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
	transform_image(transform, &dataset.train, 2, image);
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
	transform_image(transform, &dataset.train, 0, image);
	assert_true(image[0] == -1 && image[1] == 1);
	assert_true(image[3] == -2 && image[8] == (1 - .1f) / .2f);
	assert_null(transform_table(transform));
	transform_close(transform);
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
	};

	return cmocka_run_group_tests_name("transform", tests, NULL, NULL);
}
