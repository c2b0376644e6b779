#include "bench/system/suggest.h"

#include <stdio.h>
#include <string.h>

enum { MOST_LETTERS = 32 };

static int least_of(int a, int b)
{
	return a < b ? a : b;
}

/*
 * Returns how many letters must be inserted, deleted or swapped with the next
 * one to turn one word into the other. A replaced letter counts as two, unlike
 * in Damerau and Levenshtein's distance. Only MOST_LETTERS are compared.
 */
static int word_distance(const char *from, const char *to)
{
	const size_t rows = strnlen(from, MOST_LETTERS);
	const size_t columns = strnlen(to, MOST_LETTERS);
	int d[MOST_LETTERS + 1][MOST_LETTERS + 1];

	for (size_t i = 0; i <= rows; i++)
		for (size_t j = 0; j <= columns; j++) {
			d[i][j] = (int)(i + j);
			if (!i || !j)
				continue;
			d[i][j] = 1 + least_of(d[i - 1][j], d[i][j - 1]);
			if (from[i - 1] == to[j - 1])
				d[i][j] = least_of(d[i][j], d[i - 1][j - 1]);
			if (i > 1 && j > 1 && from[i - 1] == to[j - 2] &&
			    from[i - 2] == to[j - 1])
				d[i][j] = least_of(d[i][j],
						   1 + d[i - 2][j - 2]);
		}
	return d[rows][columns];
}

void suggest_add(struct suggestion *suggestion, const char *name)
{
	const int distance = word_distance(suggestion->typed, name);
	/* One mistake in two letters, two in five: more would be a guess. */
	const int most = ((int)strlen(name) + 1) / 3;

	error_list(suggestion->names, sizeof(suggestion->names), name);
	if (distance > most ||
	    (suggestion->closest && distance >= suggestion->distance))
		return;
	suggestion->closest = name;
	suggestion->distance = distance;
}

const char *suggest_text(struct suggestion *suggestion)
{
	if (suggestion->closest)
		snprintf(suggestion->text, sizeof(suggestion->text),
			 "did you mean '%s'?", suggestion->closest);
	else
		snprintf(suggestion->text, sizeof(suggestion->text),
			 "choose among: %s", suggestion->names);
	return suggestion->text;
}
