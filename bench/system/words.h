/* A command line in one text, parted into words without a shell. */
#ifndef BENCH_SYSTEM_WORDS_H
#define BENCH_SYSTEM_WORDS_H

#include "backends/contract/error.h"

/*
 * Words are parted by blanks. '...' keeps everything, "..." all but \" and \\,
 * and \ outside of both the next character. Nothing else is special: no
 * variables, no patterns. *words ends with NULL and is one block for free().
 * ERROR_USAGE, with option, for no word at all, a quote without end, and for
 * what is meant for a shell and neither quoted nor escaped: one of |;&<>`, $(
 * and a line after the first.
 */
int words_split(const char *text, const char *option, char ***words,
		struct error *err);

#endif
