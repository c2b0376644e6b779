/* Texts that are numbered: 0 is the first that was seen, and so on. */
#ifndef BENCH_SYSTEM_NAMES_H
#define BENCH_SYSTEM_NAMES_H

#include "backends/contract/error.h"

struct names {
	void *tree; /* of tsearch(): balanced, whatever the texts are */
	int count;
};

/* The number of text, which is copied if it is new: then it is the count that
 * was. -1 if there is no memory. */
int names_number(struct names *names, const char *text, struct error *err);

/* The number of a text that is there; -1 of one that is not. */
int names_find(const struct names *names, const char *text);

void names_free(struct names *names); /* all zero is fine */

#endif
