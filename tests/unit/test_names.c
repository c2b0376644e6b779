/* Texts that are numbered. */
#include "bench/system/memory.h"
#include "tests/cmocka.h"

static void each_has_its_number(void **state)
{
	static const char *const texts[] = { "b", "a", "", "b", "ab", "a" };
	static const int numbers[] = { 0, 1, 2, 0, 3, 1 };
	struct names names = { 0 };
	struct error err;
	char text[8];

	(void)state;
	assert_int_equal(names_find(&names, "b"), -1);
	for (int i = 0; i < 6; i++) {
		/* What is given is copied. */
		snprintf(text, sizeof(text), "%s", texts[i]);
		assert_int_equal(names_number(&names, text, &err), numbers[i]);
		memset(text, 'x', sizeof(text));
	}
	assert_int_equal(names.count, 4);
	assert_int_equal(names_find(&names, "ab"), 3);
	assert_int_equal(names_find(&names, "ba"), -1);
	names_free(&names);
	assert_int_equal(names.count, 0);
	assert_int_equal(names_find(&names, "b"), -1);
	names_free(&names);
}

/* In order, which makes a list of a tree that is not balanced. */
static void many_in_order(void **state)
{
	enum { MANY = 100000 };
	struct names names = { 0 };
	struct error err;
	char text[16];

	(void)state;
	for (int i = 0; i < 2 * MANY; i++) {
		snprintf(text, sizeof(text), "%08d", i % MANY);
		assert_int_equal(names_number(&names, text, &err), i % MANY);
	}
	assert_int_equal(names.count, MANY);
	names_free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_number),
		cmocka_unit_test(many_in_order),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
