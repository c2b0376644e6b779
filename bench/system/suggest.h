/* The name that a user probably meant, for messages about a wrong one. */
#ifndef BENCH_SYSTEM_SUGGEST_H
#define BENCH_SYSTEM_SUGGEST_H

#include "backends/contract/error.h"

/* Set typed, and zero the rest. Names are not copied. */
struct suggestion {
	const char *typed;   /* none of the names */
	const char *closest; /* NULL: no name is similar */
	int distance;	     /* from typed to closest; see suggest.c */
	char names[256];     /* all that fit, separated by commas */
	char text[280];	     /* of suggest_text() */
};

void suggest_add(struct suggestion *suggestion, const char *name);

/* Returns "did you mean 'run'?" or, if no name is similar, "choose among: run,
 * measure". The text is part of suggestion. */
const char *suggest_text(struct suggestion *suggestion);

#endif
