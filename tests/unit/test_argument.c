/* The completions of an argument, chosen by its name in the help. */
#include "bench/commands/argument.h"
#include "tests/cmocka.h"

#define MOST_TEXT 8192

static const struct option_row *find_option(const char *name)
{
	for (int i = 0; i < option_row_count; i++)
		if (!strcmp(option_rows[i].name, name))
			return &option_rows[i];
	fail_msg("there is no --%s", name);
	return NULL;
}

/* Prints the words that begin with what is typed, one per line. */
static void words_of(const struct argument *argument, const char *typed,
		     char text[MOST_TEXT])
{
	FILE *out = fmemopen(text, MOST_TEXT, "w");
	const struct offered offered = { out, "", typed };

	assert_non_null(out);
	argument_offer_words(&offered, argument);
	assert_int_equal(fclose(out), 0);
}

static struct argument named(const char *text)
{
	return (struct argument){ .text = text, .length = (int)strlen(text) };
}

static void names_tell_what_to_offer(void **state)
{
	static const struct {
		const char *name;
		enum offer offer;
	} known[] = {
		{ "N", OFFER_NOTHING },	      { "FILE", OFFER_FILES },
		{ "FILES", OFFER_NOTHING },   { "FIL", OFFER_NOTHING },
		{ "DIR", OFFER_FOLDERS },     { "DIR|FILE", OFFER_FILES },
		{ "FILE|DIR", OFFER_FILES },  { "TARGET", OFFER_WORDS },
		{ "on|off", OFFER_WORDS },    { "auto|N", OFFER_WORDS },
		{ "FILE|auto", OFFER_FILES }, { "N|URL", OFFER_NOTHING },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct argument argument = named(known[i].name);

		if (argument_offer(&argument) != known[i].offer)
			fail_msg("%s offers %d", known[i].name,
				 (int)argument_offer(&argument));
	}
}

static void words_come_from_names_and_registries(void **state)
{
	char text[MOST_TEXT];
	struct argument argument = named("on|off");

	(void)state;
	words_of(&argument, "", text);
	assert_string_equal(text, "on\noff\n");
	argument = named("auto|N|SET");
	words_of(&argument, "", text);
	assert_string_equal(text, "auto\nmnist\nfashion-mnist\n");
	argument = named("MODEL");
	words_of(&argument, "", text);
	assert_non_null(strstr(text, "mnist\nmnist-example\n"));
	argument = named("BACKEND");
	words_of(&argument, "", text);
	assert_non_null(strstr(text, "cpu\nopenblas\n"));
	assert_null(strstr(text, "reference"));
	argument = named("TARGET");
	words_of(&argument, "", text);
	assert_non_null(strstr(text, "cpu-1\n"));
	assert_non_null(strstr(text, "cpu-64\n"));
	assert_non_null(strstr(text, "\nopencl\n"));
	assert_non_null(strstr(text, "\nopencl-2\n"));
	assert_null(strstr(text, "opencl-1\n"));
	/* Those with a transport wait for the @. */
	assert_null(strchr(text, '@'));
	words_of(&argument, "cpu-1@", text);
	assert_non_null(strstr(text, "cpu-1@threads\n"));
	words_of(&argument, "cpu-8@", text);
	assert_non_null(strstr(text, "cpu-8@fork\n"));
	assert_null(strstr(text, "cpu-8@threads"));
	assert_null(strstr(text, "cpu-8@self"));
}

static void options_have_arguments(void **state)
{
	char text[MOST_TEXT];
	struct argument argument;

	(void)state;
	assert_int_equal(option_argument(find_option("quick"), &argument), 0);
	assert_int_equal(option_argument(find_option("format"), &argument), 1);
	assert_int_equal(argument_offer(&argument), OFFER_WORDS);
	words_of(&argument, "", text);
	assert_string_equal(text, "plain\ngithub\npost\n");
	assert_int_equal(option_argument(find_option("out"), &argument), 1);
	assert_int_equal(argument_offer(&argument), OFFER_FOLDERS);
	assert_int_equal(option_argument(find_option("seed"), &argument), 1);
	assert_int_equal(argument_offer(&argument), OFFER_NOTHING);
}

static void verbs_have_arguments(void **state)
{
	char text[MOST_TEXT];
	struct argument argument;

	(void)state;
	assert_int_equal(verb_argument(VERB_DEVICES, 0, &argument), 0);
	assert_int_equal(verb_argument(VERB_RUN, 0, &argument), 1);
	assert_int_equal(argument.length, strlen("TARGET"));
	assert_true(argument.repeats);
	assert_int_equal(verb_argument(VERB_RUN, 1, &argument), 0);
	assert_int_equal(verb_argument(VERB_MEASURE, 0, &argument), 1);
	assert_false(argument.repeats);
	assert_int_equal(verb_argument(VERB_TABLE, 0, &argument), 1);
	assert_true(argument.repeats);
	assert_int_equal(argument_offer(&argument), OFFER_FILES);
	assert_int_equal(verb_argument(VERB_DATA, 0, &argument), 1);
	words_of(&argument, "", text);
	assert_string_equal(text, "get\ncheck\nlist\n");
	assert_int_equal(verb_argument(VERB_DATA, 1, &argument), 1);
	words_of(&argument, "", text);
	assert_string_equal(text, "mnist\nfashion-mnist\n");
	assert_int_equal(verb_argument(VERB_DATA, 2, &argument), 0);
}

/* Completions find files, folders or names for an argument only by its name. */
static void paths_have_names_that_tell(void **state)
{
	static const char *const others[] = { "TEXT", "URL", "RANK:MS",
					      "PCT", "COMMAND", "REVISION",
					      "LIST" };

	(void)state;
	for (int i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];
		struct argument argument;
		int known = 0;

		if (row->kind != OPTION_TEXT ||
		    !option_argument(row, &argument) ||
		    argument_offer(&argument) != OFFER_NOTHING)
			continue;
		for (size_t o = 0; o < sizeof(others) / sizeof(others[0]); o++)
			known |= !strcmp(row->argument, others[o]);
		if (!known)
			fail_msg("--%s %s: add it to bench/commands/argument.c",
				 row->name, row->argument);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell_what_to_offer),
		cmocka_unit_test(words_come_from_names_and_registries),
		cmocka_unit_test(options_have_arguments),
		cmocka_unit_test(verbs_have_arguments),
		cmocka_unit_test(paths_have_names_that_tell),
	};

	return cmocka_run_group_tests_name("argument", tests, NULL, NULL);
}
