/* Each help text is short, an imperative, and ends with its default. */
#include "bench/options/option_table.h"

#include <ctype.h>

#include "bench/commands/page.h"
#include "tests/cmocka.h"

#define MOST_WORDS 12

/* Articles, and nouns that could be taken for a help text. */
static const char *const no_verbs[] = {
	"a", "all", "also", "an", "any", "as", "bytes", "columns", "cores",
	"every", "file", "final", "folder", "how", "images", "labels", "name",
	"names", "network", "number", "one", "pairs", "parameters", "passes",
	"raw", "rows", "samples", "seed", "seeds", "seconds", "steps", "tables",
	"the", "this", "these", "what", "where", "whether"
};

static void check_words(const char *name, const char *help)
{
	const size_t first = strcspn(help, " ,");
	int words = 1;

	for (const char *at = help; *at; at++)
		words += *at == ' ';
	if (words > MOST_WORDS)
		fail_msg("%s: %d words: %s", name, words, help);
	for (size_t i = 0; i < first; i++)
		if (!islower((unsigned char)help[i]))
			fail_msg("%s: does not begin with a verb: %s", name,
				 help);
	for (size_t i = 0; i < sizeof(no_verbs) / sizeof(no_verbs[0]); i++)
		if (strlen(no_verbs[i]) == first &&
		    !strncmp(no_verbs[i], help, first))
			fail_msg("%s: begins with '%s': %s", name, no_verbs[i],
				 help);
}

static void each_is_a_short_imperative(void **state)
{
	(void)state;
	for (int v = 0; v < VERB_COUNT; v++)
		check_words(verb_rows[v].name, verb_rows[v].summary);
	for (int i = 0; i < option_row_count; i++)
		check_words(option_rows[i].name, option_rows[i].help);
	for (const struct option_words *own = option_words; own->name; own++)
		check_words(own->name, own->help);
}

/* The default that the help of a verb names, without brackets; else NULL. */
static const char *find_default(const struct option_row *row, enum verb verb,
				char *text, size_t size)
{
	char *begin;

	option_explain(row, verb, text, size);
	begin = strrchr(text, '(');
	if (!begin || text[strlen(text) - 1] != ')')
		return NULL;
	text[strlen(text) - 1] = '\0';
	return begin + 1;
}

/* Files, names and variables need no default. */
static int needs_default(const struct option_row *row)
{
	return row->kind == OPTION_ON_OFF || row->kind == OPTION_INT ||
	       row->kind == OPTION_TIME || row->kind == OPTION_REAL ||
	       row->kind == OPTION_CHOICE;
}

static void check_default(const struct option_row *row, enum verb verb)
{
	char text[512], actual[64];
	const char *named = find_default(row, verb, text, sizeof(text));

	option_print(&options_defaults, row, actual, sizeof(actual));
	if ((needs_default(row) || *actual) && !named &&
	    strcmp(row->name, "generate") != 0)
		fail_msg("--%s names no default: %s", row->name, text);
	if (verb == VERB_COUNT && *actual && strcmp(named, actual) != 0)
		fail_msg("--%s: the default is %s, not %s", row->name, actual,
			 named);
}

static void each_ends_with_its_default(void **state)
{
	(void)state;
	for (int i = 0; i < option_row_count; i++)
		for (int v = 0; v <= VERB_COUNT; v++)
			check_default(&option_rows[i], (enum verb)v);
}

/* The tag of the option's entry: "-e, --epochs N" without fonts. */
static void print_tag(const struct option_row *row, char *text, size_t size)
{
	const char letter[] = { '-', row->letter, ',', ' ', '\0' };

	snprintf(text, size, "\n.TP\n%s--%s%s%s\n", row->letter ? letter : "",
		 row->name, row->argument ? " " : "",
		 row->argument ? row->argument : "");
}

static void remove_fonts(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from == '\\' && from[1] == 'f')
			from += 2;
		else if (*from != '\\')
			*to++ = *from;
	*to = '\0';
}

static void the_manual_has_each_option_once(void **state)
{
	const size_t size = 1 << 18;
	char *page = malloc(size), tag[128];
	FILE *out;

	(void)state;
	assert_non_null(page);
	out = fmemopen(page, size, "w");
	assert_non_null(out);
	page_print(out, "man");
	assert_int_equal(fclose(out), 0);
	remove_fonts(page);
	for (int i = 0; i < option_row_count; i++) {
		const char *at;

		print_tag(&option_rows[i], tag, sizeof(tag));
		at = strstr(page, tag);
		if (!at || strstr(at + 1, tag))
			fail_msg("--%s: not one entry", option_rows[i].name);
	}
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_a_short_imperative),
		cmocka_unit_test(each_ends_with_its_default),
		cmocka_unit_test(the_manual_has_each_option_once),
	};

	return cmocka_run_group_tests_name("help texts", tests, NULL, NULL);
}
