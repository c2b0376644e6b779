/*
 * What a user typed: a name that should be one of several, and a command line
 * in one text.
 */
#ifndef BENCH_SYSTEM_WORDS_H
#define BENCH_SYSTEM_WORDS_H

#include <stddef.h>

#include "backends/contract/error.h"

/*
 * The names that there are, and the one of them that was probably meant. Begins
 * with typed, the rest zero; the names are not copied.
 */
struct choices {
	const char *typed;   /* none of the names */
	const char *closest; /* NULL: no name is like it */
	int distance;	     /* from there to here, if there is one */
	char names[256];     /* all, with commas; what does not fit is not in */
	char advice[280];
};

void choices_add(struct choices *choices, const char *name);

/* "did you mean 'run'?" or else "choose among: run, measure"; it is in
 * choices. */
const char *choices_advise(struct choices *choices);

/*
 * A command line is parted into words without a shell, at blanks. '...' keeps
 * everything, "..." all but \" and \\, and \ outside of both the next
 * character. Nothing else is special: no variables, no patterns. *words ends
 * with NULL and is one block for free(). ERROR_USAGE, with option, for no word
 * at all, a quote without end, and for what is meant for a shell and neither
 * quoted nor escaped: one of |;&<>`, $( and a line after the first.
 */
int words_split(const char *text, const char *option, char ***words,
		struct error *err);

/* Appends a word to a command line, after a blank unless it is the first: in
 * quotes where a shell needs them. */
void words_append(char *text, size_t size, const char *word);

/*
 * What the user may type next, as a shell takes it: this program as it was
 * called, words, and an argument (NULL: none), in quotes where it needs them.
 */
void words_command(char *text, size_t size, const char *words,
		   const char *argument);

#endif
