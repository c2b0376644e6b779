/* Command lines without a shell. */
#include "bench/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct line {
	const char *text;
	const char *words[5];
};

static const struct line lines[] = {
	{ "true", { "true" } },
	{ "  sleep\t0.1 \n", { "sleep", "0.1" } },
	{ "sh -c 'a; b | c'", { "sh", "-c", "a; b | c" } },
	{ "x \"a \\\"b\\\" \\n\"", { "x", "a \"b\" \\n" } },
	{ "x a\\ b '' \"\"", { "x", "a b", "", "" } },
	{ "x 'a\\' b", { "x", "a\\", "b" } },
	{ "x a'b c'd\"e f\"", { "x", "ab cde f" } },
	{ "$HOME `id` $(id) *", { "$HOME", "`id`", "$(id)", "*" } },
	{ "x a\\", { "x", "a\\" } },
};

static void words_of_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct error err;
		char **words;
		size_t w;

		assert_int_equal(words_split(lines[i].text, "head-cmd", &words,
					     &err), 0);
		for (w = 0; lines[i].words[w]; w++) {
			assert_non_null(words[w]);
			assert_string_equal(words[w], lines[i].words[w]);
		}
		assert_null(words[w]);
		free(words);
	}
}

static void what_is_no_command(void **state)
{
	static const char *const texts[] = { "", "  ", "'' a", "a 'b", "\"",
					     "x \"a\\\"" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct error err;
		char **words;

		assert_int_equal(words_split(texts[i], "head-cmd", &words,
					     &err), -1);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_non_null(strstr(err.message, "--head-cmd"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_lines),
		cmocka_unit_test(what_is_no_command),
	};

	return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
