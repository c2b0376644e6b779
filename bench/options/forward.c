#include "bench/options/forward.h"

#include <stdlib.h>
#include <string.h>

#include "bench/options/option_table.h"

#define WORD_MOST 4200 /* a path and the option's name */

/* "--name=value", or an empty word for what has no value. */
static void format_option(const struct option_row *row,
			  const struct options *options, char *word)
{
	const int name = snprintf(word, WORD_MOST, "--%s=", row->name);

	if (row->kind == OPTION_FLAG) {
		word[*(const int *)((const char *)options + row->offset) ?
			     name - 1 : 0] = '\0';
		return;
	}
	/* No forwarded option is a list. */
	option_print(options, row, word + name, WORD_MOST - (size_t)name);
	if (!word[name])
		word[0] = '\0';
}

static int is_forwarded(const struct option_row *row, enum verb verb)
{
	return verb_knows(verb, row) && (verb_knows(VERB_RUN, row) ||
					 verb_knows(VERB_INFER, row) ||
					 verb_knows(VERB_CHECK, row));
}

char **forward_options(const struct options *options, const char *program,
		       enum verb verb, const char *argument,
		       const char *const *extra, struct error *err)
{
	size_t words = 4, at = 0; /* program, verb, argument, NULL */
	char **argv, *text;

	words += (size_t)option_row_count;
	for (const char *const *word = extra; *word; word++)
		words++;
	argv = malloc(words * (sizeof(*argv) + WORD_MOST));
	if (!argv) {
		error_memory(err, "a command line");
		return NULL;
	}
	text = (char *)(argv + words);
	for (size_t w = 0; w < words; w++)
		argv[w] = text + w * WORD_MOST;
	snprintf(argv[at++], WORD_MOST, "%s",
		 program ? program : "/proc/self/exe");
	snprintf(argv[at++], WORD_MOST, "%s", verb_name(verb));
	snprintf(argv[at++], WORD_MOST, "%s", argument);
	for (int i = 0; i < option_row_count; i++) {
		if (!is_forwarded(&option_rows[i], verb))
			continue;
		format_option(&option_rows[i], options, argv[at]);
		at += argv[at][0] != '\0';
	}
	for (; *extra; extra++)
		snprintf(argv[at++], WORD_MOST, "%s", *extra);
	argv[at] = NULL;
	for (size_t w = 0; w < at; w++)
		if (strlen(argv[w]) >= WORD_MOST - 1) {
			error_set(err, ERROR_USAGE, "the argument %.60s... is "
				  "too long", argv[w]);
			free(argv);
			return NULL;
		}
	return argv;
}
