/* The values of an argument of an option or a verb, found by its name in the
 * help: FILE, TARGET, on|off. Completions are made from them. */
#ifndef BENCH_COMMANDS_ARGUMENT_H
#define BENCH_COMMANDS_ARGUMENT_H

#include <stdio.h>

#include "bench/options/option_table.h"

/* Kinds of values. If an argument has several, the last one counts. */
enum offer {
	OFFER_NOTHING, /* a number or any text */
	OFFER_WORDS,
	OFFER_FOLDERS,
	OFFER_FILES /* and folders, as a part of their paths */
};

struct argument {
	const char *text; /* name in the help */
	int length;	  /* length of text */
	int repeats;	  /* 1: any number of times */
	const char *const *choices; /* OPTION_MOST_CHOICES entries, or NULL */
};

/* Returns 0 if the option takes no argument. */
int option_argument(const struct option_row *row, struct argument *argument);

/* Finds the argument at position 0, 1, ... Returns 0 if there is none. */
int verb_argument(enum verb verb, int position, struct argument *argument);

enum offer argument_offer(const struct argument *argument);

/* Output of words that begin with typed: one line each, after prefix. Targets
 * with a transport are offered only once an @ is typed. */
struct offered {
	FILE *out;
	const char *prefix, *typed;
};

/* Prints a word if it matches; a tab and description follow unless it is
 * NULL. */
void argument_offer_word(const struct offered *offered, const char *word,
			 const char *description);

/* Prints the words of OFFER_WORDS. */
void argument_offer_words(const struct offered *offered,
			  const struct argument *argument);

#endif
