/* Growing memory: arrays, printed text, numbered texts. */
#ifndef BENCH_SYSTEM_MEMORY_H
#define BENCH_SYSTEM_MEMORY_H

#include <stddef.h>
#include <stdio.h>

#include "backends/contract/error.h"

/*
 * Makes room for one more item of size bytes after count items. *room is the
 * number of items that fit; it and *items, which may be NULL, change if they
 * have to grow. Without memory the items are unchanged, and the error names
 * what.
 */
int array_make_room(void **items, size_t count, size_t *room, size_t size,
		    const char *what, struct error *err);

/* A stream, out, whose text memory_close() returns. */
struct memory_text {
	FILE *out;
	char *text;
	size_t size, room;
	int failed;
};

/* Returns NULL if there is no memory; the error names what. */
struct memory_text *memory_open(const char *what, struct error *err);

/* Returns the written text in *text, with *size bytes and a NUL, which the
 * caller frees. Fails, with NULL, if any byte found no memory. */
int memory_close(struct memory_text *memory, char **text, size_t *size,
		 const char *what, struct error *err);

/* Writes something about context to out. */
typedef int memory_printer(FILE *out, const void *context, struct error *err);

/* Collects the output of print in one call. Fails also if print does. */
int memory_print(char **text, size_t *size, memory_printer *print,
		 const void *context, const char *what, struct error *err);

/* Numbered texts: 0 is the first one that was added, and so on. */
struct names {
	void *tree; /* of tsearch(): balanced for any texts */
	int count;
};

/* Returns the number of text. A new text is copied and gets the next number.
 * Returns -1 if there is no memory. */
int names_number(struct names *names, const char *text, struct error *err);

/* Returns the number of text, or -1 if it was not added. */
int names_find(const struct names *names, const char *text);

void names_free(struct names *names); /* all zero is allowed */

#endif
