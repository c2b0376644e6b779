#include "bench/commands/commands.h"

#include <string.h>

#include "bench/commands/argument.h"

/* The option called so, with both dashes or one, or NULL. */
static const struct option_row *find_option(const char *word, size_t length)
{
	for (int i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];

		if (length == 2 && row->letter && word[0] == '-' &&
		    word[1] == row->letter)
			return row;
		if (length > 2 && !strncmp(word, "--", 2) &&
		    !strncmp(row->name, word + 2, length - 2) &&
		    !row->name[length - 2])
			return row;
	}
	return NULL;
}

static void offer_options(FILE *out, const char *typed, enum verb verb)
{
	const struct offered offered = { out, "", typed };

	fputs("words\n", out);
	for (int i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];
		char name[64];

		if (!verb_knows(verb, row))
			continue;
		snprintf(name, sizeof(name), "--%s", row->name);
		argument_offer_word(&offered, name, option_help(row, verb));
		snprintf(name, sizeof(name), "-%c", row->letter);
		if (row->letter)
			argument_offer_word(&offered, name,
					    option_help(row, verb));
	}
}

static void offer_verbs(FILE *out, const char *typed)
{
	const struct offered offered = { out, "", typed };

	fputs("words\n", out);
	for (int v = 0; v < VERB_COUNT; v++)
		argument_offer_word(&offered, verb_rows[v].name,
				    verb_rows[v].summary);
}

static void offer_argument(FILE *out, const struct argument *argument,
			   const char *typed, int before)
{
	char prefix[64];
	const struct offered offered = { out, prefix, typed + before };

	snprintf(prefix, sizeof(prefix), "%.*s", before, typed);
	switch (argument_offer(argument)) {
	case OFFER_FILES:
		fputs("files\n", out);
		return;
	case OFFER_FOLDERS:
		fputs("folders\n", out);
		return;
	default:
		fputs("words\n", out);
		argument_offer_words(&offered, argument);
	}
}

/* Position of the last word: after an option that takes it, or among the
 * arguments. */
struct position {
	const struct option_row *option;
	int arguments, only_arguments;
};

static struct position find_position(const char *const *words, int count)
{
	struct position position = { .option = NULL };

	for (int i = 0; i < count; i++) {
		const char *word = words[i];
		struct argument argument;

		if (position.option) {
			position.option = NULL;
		} else if (position.only_arguments || word[0] != '-') {
			position.arguments++;
		} else if (!strcmp(word, "--")) {
			position.only_arguments = 1;
		} else {
			position.option = find_option(word, strlen(word));
			if (position.option &&
			    !option_argument(position.option, &argument))
				position.option = NULL;
		}
	}
	return position;
}

/* Finds the argument at a place; the last one may repeat. */
static int find_argument(enum verb verb, int place, struct argument *argument)
{
	int at = place;

	while (at > 0 && !verb_argument(verb, at, argument))
		at--;
	return verb_argument(verb, at, argument) &&
	       (at == place || argument->repeats);
}

static void complete_verb(FILE *out, enum verb verb, const char *const *words,
			  int count)
{
	const struct position position = find_position(words, count - 1);
	const char *typed = words[count - 1];
	const size_t name = strcspn(typed, "=");
	const int is_option = !position.only_arguments && typed[0] == '-';
	const struct option_row *row = position.option;
	struct argument argument;
	int before = 0;

	if (!row && is_option && typed[name] == '=') {
		row = find_option(typed, name);
		before = (int)name + 1;
	}
	if (row && option_argument(row, &argument))
		offer_argument(out, &argument, typed, before);
	else if (!before && is_option)
		offer_options(out, typed, verb);
	else if (!before && find_argument(verb, position.arguments, &argument))
		offer_argument(out, &argument, typed, 0);
}

int complete_command(const struct options *options, FILE *out, FILE *log,
		     struct error *err)
{
	const char *const *words = options->arguments;
	const int count = options->argument_count;

	(void)log, (void)err;
	if (count == 1 && words[0][0] == '-')
		offer_options(out, words[0], VERB_COUNT);
	else if (count == 1)
		offer_verbs(out, words[0]);
	for (int v = 0; count > 1 && v < VERB_COUNT; v++)
		if (!strcmp(verb_rows[v].name, words[0]))
			complete_verb(out, (enum verb)v, words + 1, count - 1);
	return 0;
}
