/*
 * Text from outside (labels, device names, reasons) as it may be shown. All of
 * it is taken for UTF-8; what is not, or is no character of XML, shows as \xNN.
 */
#ifndef BENCH_SYSTEM_TEXT_H
#define BENCH_SYSTEM_TEXT_H

#include <stddef.h>
#include <stdio.h>

enum text_rules {
	TEXT_MARKDOWN = 1, /* what Markdown takes as its own is escaped */
	TEXT_ASCII = 2,	   /* anything else shows as ? */
	TEXT_LINES = 4,	   /* line breaks and tabs stay what they are */
	TEXT_HTML = 8	   /* markup is escaped, in attributes, too */
};

/* Bytes of the character that starts here, and its number; a byte that is not
 * UTF-8 stands for itself, as one byte and number 0x80 and more. */
int text_decode(const char *text, unsigned *number);

/* No control characters, so that no text can steer a terminal, nor those that
 * turn the direction of what follows: \uNNNN. */
void text_clean(char *to, size_t size, const char *from, int rules);

/* The same, of any length, written to out. */
void text_print(FILE *out, const char *text, int rules);

/* Columns on a terminal: two for the wide characters of East Asia. */
int text_width(const char *text);

/*
 * One line in as many of at most width columns as it takes, broken between
 * words; later ones begin with indent blanks. A longer word, as a path may be,
 * stays whole. text is as it was afterwards.
 */
void text_wrap(FILE *out, char *text, int width, int indent);

/* Prints behind the text, which has size bytes; what does not fit is cut. */
__attribute__((format(printf, 3, 4)))
void text_append(char *text, size_t size, const char *format, ...);

/* The same of an item of a list: after first in an empty text, else after
 * comma. */
__attribute__((format(printf, 5, 6)))
void text_list(char *text, size_t size, const char *first, const char *comma,
	       const char *format, ...);

/* At most so many columns, the last two ".." if something is left out. */
void text_cut(char *text, int columns);

#endif
