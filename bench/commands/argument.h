/*
 * What may stand for an argument of an option or a verb, told from what the
 * help calls it: FILE, TARGET, on|off. Completions are made from it.
 */
#ifndef BENCH_COMMANDS_ARGUMENT_H
#define BENCH_COMMANDS_ARGUMENT_H

#include <stdio.h>

#include "bench/options/option_table.h"

/* Where an argument may be of several kinds, the last one counts. */
enum offer {
	OFFER_NOTHING, /* a number, or a text of the user's own */
	OFFER_WORDS,
	OFFER_FOLDERS,
	OFFER_FILES /* and folders, as the way to them */
};

struct argument {
	const char *text; /* what the help calls it ... */
	int length;	  /* ... which ends here */
	int repeats;	  /* as often as one likes */
	const char *const *choices; /* OPTION_MOST_CHOICES, or NULL */
};

/* Returns 0 if the option takes no argument. */
int option_argument(const struct option_row *row, struct argument *argument);

/* The argument at position 0, 1, ...; returns 0 if there is none. */
int verb_argument(enum verb verb, int position, struct argument *argument);

enum offer argument_offer(const struct argument *argument);

/* Words that begin with what is typed are printed to out, a line each, after
 * prefix. Targets with a transport are many: they wait for an @. */
struct offered {
	FILE *out;
	const char *prefix, *typed;
};

/* description follows a tab; NULL: none. */
void argument_offer_word(const struct offered *offered, const char *word,
			 const char *description);

/* The words of OFFER_WORDS. */
void argument_offer_words(const struct offered *offered,
			  const struct argument *argument);

#endif
