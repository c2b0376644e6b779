/*
 * Makes text from outside (labels, device names, reasons) safe to show. All of
 * it is read as UTF-8. Invalid bytes, and characters that XML does not allow,
 * become \xNN.
 */
#ifndef BENCH_SYSTEM_TEXT_H
#define BENCH_SYSTEM_TEXT_H

#include <stddef.h>
#include <stdio.h>

enum text_rules {
	TEXT_MARKDOWN = 1, /* escape Markdown's special characters */
	TEXT_ASCII = 2,	   /* all other characters become ? */
	TEXT_LINES = 4,	   /* keep line breaks and tabs */
	TEXT_HTML = 8	   /* escape markup, also for attributes */
};

/* Returns the bytes of the character at text, and its number. A byte that is
 * not UTF-8 is one byte with number 0x80 or more. */
int text_decode(const char *text, unsigned *number);

/* Replaces control characters, so that no text can steer a terminal, and
 * characters that change the direction of text, by \uNNNN. */
void text_clean(char *to, size_t size, const char *from, int rules);

/* Prints text of any length, cleaned in this way. */
void text_print(FILE *out, const char *text, int rules);

/* Returns the columns on a terminal: two for wide characters of East Asia. */
int text_width(const char *text);

/*
 * Prints one line as several of at most width columns, broken between words;
 * later ones begin with indent blanks. A longer word, such as a path, stays
 * whole. text is unchanged on return.
 */
void text_wrap(FILE *out, char *text, int width, int indent);

/* Appends to text, which has room for size bytes; the rest is cut. */
__attribute__((format(printf, 3, 4)))
void text_append(char *text, size_t size, const char *format, ...);

/* Appends an item of a list: after first if text is empty, otherwise after
 * comma. */
__attribute__((format(printf, 5, 6)))
void text_list(char *text, size_t size, const char *first, const char *comma,
	       const char *format, ...);

/* Cuts text to this number of columns; the last two are ".." if it was cut. */
void text_cut(char *text, int columns);

#endif
