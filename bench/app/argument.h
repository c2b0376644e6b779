/*
 * What may stand for an argument of an option or a verb, told from what the
 * help calls it: FILE, TARGET, on|off. Completions are made from it.
 */
#ifndef BENCH_APP_ARGUMENT_H
#define BENCH_APP_ARGUMENT_H

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

/* The words of OFFER_WORDS, each with a blank before it. */
void argument_print_words(FILE *out, const struct argument *argument);

/* " --name", and " -letter" if it has one. */
void option_print_words(FILE *out, const struct option_row *row);

void verb_print_words(FILE *out); /* " name" of each */

#endif
