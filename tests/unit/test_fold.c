/* Groups of the test, as in GroupKFold's first fold. */
#include "bench/data/fold.h"
#include "tests/cmocka.h"

/* By hand: 9 to fold 0, 8 to 1, 5 to 2, 4 (of group 4) to 3, 4 (of 1) to 4; 3
 * to 3, 2 to 4, both of 1 to 2. */
static void the_lightest_fold_gets_the_next_one(void **state)
{
	static const int sizes[] = { 9, 4, 8, 5, 4, 1, 3, 1, 2 };
	static const uint8_t right[] = { 1, 0, 0, 0, 0, 0, 0, 0, 0 };
	uint8_t is_test[9];

	(void)state;
	assert_int_equal(fold_groups(sizes, 9, is_test), 0);
	assert_memory_equal(is_test, right, sizeof(right));
}

/* Of equals the last one comes first, and the first fold is the first. */
static void equals_begin_with_the_last(void **state)
{
	static const int sizes[] = { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 };
	static const uint8_t right[] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
	uint8_t is_test[11];

	(void)state;
	assert_int_equal(fold_groups(sizes, 11, is_test), 0);
	assert_memory_equal(is_test, right, sizeof(right));
}

static void no_group_is_none(void **state)
{
	uint8_t is_test = 7;

	(void)state;
	assert_int_equal(fold_groups((const int[]){ 0 }, 0, &is_test), 0);
	assert_int_equal(is_test, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lightest_fold_gets_the_next_one),
		cmocka_unit_test(equals_begin_with_the_last),
		cmocka_unit_test(no_group_is_none),
	};

	return cmocka_run_group_tests_name("fold", tests, NULL, NULL);
}
