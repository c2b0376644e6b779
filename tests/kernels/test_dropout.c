/* Dropout of every build: its choices, and what they do to elements. */
#include <float.h>

#include "backends/cpu/kernels/kernels.h"
#include "tests/kernels/stem_draw.h"

#define MOST 9300

static void compare_choices(dropout_chooser *choices, unsigned long long seed,
			    double drop, int count)
{
	static uint8_t right[MOST], tried[MOST + 1];

	dropout_choices(seed, 7, 0xfffffff1, 5, drop, count, right);
	memset(tried, 7, sizeof(tried));
	choices(seed, 7, 0xfffffff1, 5, drop, count, tried);
	assert_memory_equal(tried, right, (size_t)count);
	assert_int_equal(tried[count], 7);
}

/* Every count ends somewhere else in a vector. */
static void choices_are_the_same_bits(void **state)
{
	static const double drops[] = { .25, .5, 0, 1, 0x1p-32, 1 - 0x1p-32 };
	static const unsigned long long seeds[] = { 1, 0xfedcba9876543210 };

	(void)state;
	for (size_t b = 0; cpu_builds[b]; b++) {
		dropout_chooser *choices = cpu_builds[b]->choices;

		if (!cpu_builds[b]->supported())
			continue;
		for (int count = 0; count < 150; count++)
			compare_choices(choices, 3, .5, count);
		for (size_t d = 0; d < sizeof(drops) / sizeof(drops[0]); d++)
			for (size_t s = 0; s < 2; s++)
				compare_choices(choices, seeds[s], drops[d],
						MOST - 84);
	}
}

static const struct stem_shape shapes[] = {
	{ 1, 28, 28, 32, 64, 1, 0 }, { 1, 8, 8, 5, 3, 0, 0 },
	{ 3, 12, 16, 5, 3, 1, 0 },   { 2, 28, 20, 7, 13, 0, 0 },
	{ 1, 40, 40, 3, 29, 1, 0 },
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* Any order will do; a stride that shares no factor makes one. */
static void check_drop(const struct stem_kernels *stem,
		       const struct stem_shape *shape)
{
	const int plane = stem_plane(shape), all = plane * shape->outputs;
	float *values = allocate_drawn(all, 1);
	float *before = allocate((size_t)all, sizeof(*before));
	uint8_t *keep = allocate((size_t)all, 1);
	int *places = allocate((size_t)plane, sizeof(*places));
	float *scratch = aligned_alloc(
		64, (stem->scratch(shape) * sizeof(float) + 63) / 64 * 64);

	assert_non_null(scratch);
	for (int p = 0; p < plane; p++)
		places[p] = (int)((long)p * 10007 % plane);
	for (int i = 0; i < all; i++)
		keep[i] = rand() % 4 > 0;
	keep[0] = 0;
	keep[1] = 1;
	values[places[0]] = NAN;
	values[places[1]] = NAN;
	memcpy(before, values, (size_t)all * sizeof(*values));
	stem->drop(shape, keep, places, 1.25f, values, scratch);
	assert_true(values[places[0]] == 0);
	assert_true(isnan(values[places[1]]));
	for (int i = 2; i < all; i++) {
		const int at = i / plane * plane + places[i % plane];

		assert_true(values[at] == (keep[i] ? 1.25f * before[at] : 0));
	}
	free(values);
	free(before);
	free(keep);
	free(places);
	free(scratch);
}

static void elements_are_kept_by_pixel(void **state)
{
	(void)state;
	for (size_t b = 0; cpu_builds[b]; b++)
		for (size_t s = 0; s < SHAPES; s++)
			if (cpu_builds[b]->supported())
				check_drop(cpu_builds[b]->stem, &shapes[s]);
}

static void check_stop(const struct stem_kernels *stem, int count)
{
	static const float outs[] = { 1, 0, -0.f, -1, NAN, FLT_MIN, INFINITY };
	enum { OUTS = sizeof(outs) / sizeof(outs[0]) };
	float *out = allocate((size_t)count, sizeof(*out));
	float *dy = allocate((size_t)count, sizeof(*dy));

	for (int i = 0; i < count; i++) {
		out[i] = outs[i % OUTS];
		dy[i] = i == 5 ? NAN : (float)(i + 1);
	}
	stem->stop((size_t)count, out, 2, dy);
	for (int i = 0; i < count; i++)
		if (i == 5)
			assert_true(isnan(dy[i]));
		else
			assert_true(dy[i] == (out[i] <= 0 ? 0 :
					      2 * (float)(i + 1)));
	free(out);
	free(dy);
}

static void gradient_stops_where_nothing_came_out(void **state)
{
	(void)state;
	for (size_t b = 0; cpu_builds[b]; b++)
		for (int count = 0; count < 70; count++)
			if (cpu_builds[b]->supported())
				check_stop(cpu_builds[b]->stem, count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choices_are_the_same_bits),
		cmocka_unit_test(elements_are_kept_by_pixel),
		cmocka_unit_test(gradient_stops_where_nothing_came_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
