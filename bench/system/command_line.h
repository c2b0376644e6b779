/* A command line in one text: split into words, or made of them. */
#ifndef BENCH_SYSTEM_COMMAND_LINE_H
#define BENCH_SYSTEM_COMMAND_LINE_H

#include <stddef.h>

#include "backends/contract/error.h"

/*
 * Splits a command line into words at blanks, without a shell. '...' keeps
 * everything, "..." all but \" and \\, and \ outside of both the next
 * character. Nothing else is special: no variables, no patterns. *words ends
 * with NULL and is one block for free(). ERROR_USAGE names option: there is no
 * word, a quote has no end, or the text needs a shell. It does if |;&<>`, $( or
 * a second line is neither quoted nor escaped.
 */
int command_line_split(const char *text, const char *option, char ***words,
		       struct error *err);

/* Appends a word, after a blank unless the line is empty. Quotes the word if a
 * shell would not take it as it is. */
void command_line_append(char *text, size_t size, const char *word);

/* Writes a command that the user may type: the name by which this program was
 * called, words, and argument (NULL: none), quoted for a shell. */
void command_line_hint(char *text, size_t size, const char *words,
		       const char *argument);

#endif
