/* Boxes of images, against tests/images/make_images.py. */
#include "bench/data/images/crop.h"
#include "tests/cmocka.h"

static void boxes_are_drawn_as_by_torchvision(void **state)
{
	FILE *golden = fopen("tests/images/crops.csv", "r");
	int size[2], box[4], is_mirrored, rows = 0;
	unsigned long long seed;
	unsigned epoch, sample;

	(void)state;
	assert_non_null(golden);
	assert_int_equal(fscanf(golden, "%*s\n"), 0);
	for (; fscanf(golden, "%llu,%u,%u,%d,%d,%d,%d,%d,%d,%d\n", &seed,
		      &epoch, &sample, &size[0], &size[1], &box[0], &box[1],
		      &box[2], &box[3], &is_mirrored) == 10; rows++) {
		const struct crop_key key = { seed, epoch };
		struct crop crop;

		crop_draw(&crop, &key, sample, size[0], size[1], 24, 32);
		assert_int_equal(crop.top, box[0]);
		assert_int_equal(crop.left, box[1]);
		assert_int_equal(crop.down.from, box[2]);
		assert_int_equal(crop.across.from, box[3]);
		assert_int_equal(crop.is_mirrored, is_mirrored);
		assert_true(crop.down.to == 24 && crop.down.whole == 24);
		assert_true(crop.across.to == 32 && crop.across.whole == 32);
		assert_true(crop.down.first == 0 && crop.across.first == 0);
	}
	assert_true(feof(golden) && rows == 60);
	fclose(golden);
}

static void assert_middle(struct crop crop, int height, int width,
			  int64_t down, int64_t across, int64_t top,
			  int64_t left)
{
	assert_true(crop.top == 0 && crop.left == 0 && !crop.is_mirrored);
	assert_true(crop.down.from == height && crop.across.from == width);
	assert_true(crop.down.whole == down && crop.across.whole == across);
	assert_true(crop.down.first == top && crop.across.first == left);
}

/* The longer side is cut off, the middle rounded to even. */
static void the_middle_is_tested(void **state)
{
	struct crop crop;

	(void)state;
	crop_center(&crop, 375, 500, 224, 224);
	assert_middle(crop, 375, 500, 256, 341, 16, 58);
	crop_center(&crop, 7, 5, 28, 28);
	assert_middle(crop, 7, 5, 44, 32, 8, 2);
	crop_center(&crop, 1, 1000000, 4096, 4096);
	assert_middle(crop, 1, 1000000, 4681, 4681000000, 292, 2340497952);
	crop_center(&crop, 3, 3, 1, 1);
	assert_middle(crop, 3, 3, 1, 1, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_are_drawn_as_by_torchvision),
		cmocka_unit_test(the_middle_is_tested),
	};

	return cmocka_run_group_tests_name("crop", tests, NULL, NULL);
}
