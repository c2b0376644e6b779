/* Dropout of every build: its choices. */
#include "tests/stems.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choices_are_the_same_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
