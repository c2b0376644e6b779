/* Scenes of four images: which there are, which are for the test, and how they
 * are drawn. */
#include "bench/data/scenes.h"

#include <zlib.h>

#include "tests/cmocka.h"

#define IMAGES 60000
#define HALF (SCENE_SIDE / 2)

static struct scenes make(int images, int height, int width)
{
	struct scenes scenes;
	struct error err;

	if (scenes_make(&scenes, images, height, width, &err))
		fail_msg("%s", err.message);
	return scenes;
}

/* Of the places as little-endian 32-bit numbers. */
static uint32_t checksum(const struct scene *list, int count)
{
	uLong sum = 0;

	for (int i = 0; i < count; i++)
		for (int j = 0; j < SCENE_IMAGES; j++) {
			const unsigned at = (unsigned)list[i].images[j];
			const uint8_t bytes[] = {
				(uint8_t)at, (uint8_t)(at >> 8),
				(uint8_t)(at >> 16), (uint8_t)(at >> 24)
			};

			sum = crc32(sum, bytes, sizeof(bytes));
		}
	return (uint32_t)sum;
}

/* The numbers are from a program in Python that follows the rules. */
static void there_are_the_scenes_of_the_rules(void **state)
{
	static const int first[] = { 6, 2, 4, 1 };
	static const int last_test[] = { 59991, 59986, 59990, 59988 };
	struct scenes scenes = make(IMAGES, 28, 28);

	(void)state;
	assert_int_equal(scenes.train_count, 48007);
	assert_int_equal(scenes.test_count, 12002);
	assert_memory_equal(scenes.train[0].images, first, sizeof(first));
	assert_memory_equal(scenes.test[12001].images, last_test,
			    sizeof(last_test));
	assert_int_equal(checksum(scenes.train, scenes.train_count),
			 0xaa77a178);
	assert_int_equal(checksum(scenes.test, scenes.test_count), 0xe2693f88);
	scenes_release(&scenes);
}

static void training_and_test_share_no_image(void **state)
{
	struct scenes scenes = make(IMAGES, 28, 28);
	uint8_t *used = calloc(IMAGES, 1);

	(void)state;
	assert_non_null(used);
	for (int i = 0; i < scenes.train_count; i++)
		for (int j = 0; j < SCENE_IMAGES; j++)
			used[scenes.train[i].images[j]] = 1;
	for (int i = 0; i < scenes.test_count; i++)
		for (int j = 0; j < SCENE_IMAGES; j++)
			assert_false(used[scenes.test[i].images[j]]);
	free(used);
	scenes_release(&scenes);
}

/* Of one value each the quarters stay so. */
static void a_scene_has_its_images_by_rows(void **state)
{
	struct scenes scenes = make(16, 3, 5);
	const struct scene scene = { { 9, 2, 12, 4 } };
	static uint8_t images[16 * 15], pixels[SCENE_SIDE * SCENE_SIDE];
	uint8_t *scratch = malloc(resize_scratch_size(&scenes.resize));

	(void)state;
	assert_non_null(scratch);
	for (int i = 0; i < 16; i++)
		memset(images + 15 * i, 7 + i, 15);
	scene_draw(&scenes, &scene, images, scratch, pixels);
	for (int y = 0; y < SCENE_SIDE; y++)
		for (int x = 0; x < SCENE_SIDE; x++)
			assert_int_equal(pixels[y * SCENE_SIDE + x],
					 7 + scene.images[y / HALF * 2 +
							  x / HALF]);
	free(scratch);
	scenes_release(&scenes);
}

static void targets_are_the_classes_that_are_there(void **state)
{
	static const uint16_t labels[] = { 3, 0, 3, 1, 2, 1, 0, 0 };
	const struct scene scene = { { 0, 2, 5, 3 } };
	float targets[5] = { 7, 7, 7, 7, 7 };
	const float right[5] = { 0, 1, 0, 1, 7 };

	(void)state;
	scene_targets(&scene, labels, 4, targets);
	assert_memory_equal(targets, right, sizeof(right));
}

/* Images after the last whole group. */
static void images_left_over_are_in_no_scene(void **state)
{
	struct scenes whole = make(48, 28, 28), more = make(55, 28, 28);

	(void)state;
	assert_true(whole.train_count && whole.test_count);
	assert_int_equal(more.train_count, whole.train_count);
	assert_int_equal(more.test_count, whole.test_count);
	assert_int_equal(checksum(more.train, more.train_count),
			 checksum(whole.train, whole.train_count));
	assert_int_equal(checksum(more.test, more.test_count),
			 checksum(whole.test, whole.test_count));
	scenes_release(&whole);
	scenes_release(&more);
}

/* Fewer images than a group make none. */
static void few_images_make_no_scene(void **state)
{
	struct scenes scenes = make(7, 28, 28);

	(void)state;
	assert_int_equal(scenes.train_count + scenes.test_count, 0);
	scenes_release(&scenes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_are_the_scenes_of_the_rules),
		cmocka_unit_test(training_and_test_share_no_image),
		cmocka_unit_test(a_scene_has_its_images_by_rows),
		cmocka_unit_test(targets_are_the_classes_that_are_there),
		cmocka_unit_test(images_left_over_are_in_no_scene),
		cmocka_unit_test(few_images_make_no_scene),
	};

	return cmocka_run_group_tests_name("scenes", tests, NULL, NULL);
}
