/* Command lines without a shell. */
#include "bench/system/command_line.h"

#include <errno.h>

#include "tests/cmocka.h"

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
	{ "$HOME '`id`' \\$(id *", { "$HOME", "`id`", "$(id", "*" } },
	{ "x \\| 'a;b' \"c&d\"", { "x", "|", "a;b", "c&d" } },
	{ "\n x 'a\nb' \n", { "x", "a\nb" } },
	{ "x a\\", { "x", "a\\" } },
};

static void words_of_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct error err;
		char **words;
		size_t w;

		assert_int_equal(command_line_split(lines[i].text, "head-cmd",
						    &words, &err),
				 0);
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

		assert_int_equal(command_line_split(texts[i], "head-cmd",
						    &words, &err),
				 -1);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_non_null(strstr(err.message, "--head-cmd"));
	}
}

/* It would go to the program unchanged, without a message. */
static void what_is_for_a_shell(void **state)
{
	static const struct {
		const char *text, *named;
	} shell[] = {
		{ "x 200 | cat", "but has |," }, { "x;y", "but has ;," },
		{ "x &", "but has &," },	 { "x <in", "but has <," },
		{ "x 2>out", "but has >," },	 { "x `id`", "but has `," },
		{ "x $(id)", "but has $(," },
		{ "x\ny", "the end of a line" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(shell) / sizeof(shell[0]); i++) {
		struct error err;
		char **words;

		assert_int_equal(command_line_split(shell[i].text, "head-cmd",
						    &words, &err),
				 -1);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_non_null(strstr(err.message, shell[i].named));
		assert_non_null(strstr(err.message, "sh -c '...'"));
	}
}

/* As a shell takes them back. */
static void command_lines_are_quoted(void **state)
{
	static const struct {
		const char *program, *argument, *line;
	} cases[] = {
		{ "bench", "made", "bench table made" },
		{ "build/bench", "r/2026-a_b.c", "build/bench table r/2026-a_b."
		  "c" },
		{ "./my bench", "a b", "'./my bench' table 'a b'" },
		{ "bench", "it's", "bench table 'it'\\''s'" },
		{ "bench", "$HOME", "bench table '$HOME'" },
		{ "bench", "", "bench table ''" },
		{ "bench", "caf\xC3\xA9", "bench table caf\xC3\xA9" },
	};
	char *const name = program_invocation_name;
	char text[100];

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		program_invocation_name = (char *)cases[c].program;
		command_line_hint(text, sizeof(text), "table",
				  cases[c].argument);
		assert_string_equal(text, cases[c].line);
	}
	program_invocation_name = name;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_lines),
		cmocka_unit_test(what_is_no_command),
		cmocka_unit_test(what_is_for_a_shell),
		cmocka_unit_test(command_lines_are_quoted),
	};

	return cmocka_run_group_tests_name("command_line", tests, NULL, NULL);
}
