/* A part of a resized image is what it is in the whole one. */
#include "bench/data/images/resize.h"
#include "tests/cmocka.h"

#define ROOM 4096 /* bytes of an image, before and after */
#define PIXEL 3	  /* bytes apart, as where colours take turns */

static uint8_t pixels[ROOM * PIXEL], whole[ROOM], part[ROOM];

static void resize(struct resize *made, const struct resize_source *source,
		   uint8_t *to, size_t stride)
{
	uint8_t *scratch = malloc(resize_scratch_size(made));

	assert_non_null(scratch);
	resize_plane(made, source, scratch, to, stride);
	free(scratch);
	resize_release(made);
}

/* All of it, and height x width of it from top and left on. */
static void assert_part(struct resize_span down, struct resize_span across)
{
	const struct resize_source source = {
		pixels + 1, (size_t)across.from * PIXEL, PIXEL
	};
	const size_t width = (size_t)across.whole;
	const uint8_t *from = whole + (size_t)down.first * width +
			      (size_t)across.first;
	struct resize made;

	assert_true(down.from * across.from <= ROOM &&
		    down.whole * across.whole <= ROOM);
	assert_int_equal(resize_make(&made, down.from, across.from,
				     (int)down.whole, (int)width), 0);
	resize(&made, &source, whole, width);
	assert_int_equal(resize_make_part(&made, &down, &across), 0);
	resize(&made, &source, part, (size_t)across.to);
	for (int y = 0; y < down.to; y++)
		assert_memory_equal(part + y * across.to,
				    from + (size_t)y * width,
				    (size_t)across.to);
}

static void a_part_is_as_in_the_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(pixels); i++)
		pixels[i] = (uint8_t)(i * i / 7 + 31 * i);
	assert_part((struct resize_span){ 50, 20, 0, 20 },
		    (struct resize_span){ 71, 30, 5, 20 });
	assert_part((struct resize_span){ 61, 33, 9, 17 },
		    (struct resize_span){ 17, 44, 43, 1 });
	assert_part((struct resize_span){ 5, 64, 60, 4 },
		    (struct resize_span){ 64, 64, 1, 62 });
	assert_part((struct resize_span){ 1, 7, 3, 2 },
		    (struct resize_span){ 4000, 9, 8, 1 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_is_as_in_the_whole),
	};

	return cmocka_run_group_tests_name("resize", tests, NULL, NULL);
}
