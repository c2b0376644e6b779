/* Memory that grows: arrays, text that is printed, texts that are numbered. */
#ifndef BENCH_SYSTEM_MEMORY_H
#define BENCH_SYSTEM_MEMORY_H

#include <stddef.h>
#include <stdio.h>

#include "backends/contract/error.h"

/*
 * Has room for one more item of size bytes behind the count that are there.
 * *room is for how many there is; it and *items, which may be NULL, change
 * where that was not enough. what is named where memory is lacking; items are
 * then as they were.
 */
int array_make_room(void **items, size_t count, size_t *room, size_t size,
		    const char *what, struct error *err);

/* A stream, out, whose text memory_close() hands over. */
struct memory_text {
	FILE *out;
	char *text;
	size_t size, room;
	int failed;
};

/* what is named where memory is lacking. NULL on failure. */
struct memory_text *memory_open(const char *what, struct error *err);

/*
 * What was written becomes *text, of *size bytes and a NUL behind them, which
 * the caller frees; NULL and an error if a single byte found no memory.
 */
int memory_close(struct memory_text *memory, char **text, size_t *size,
		 const char *what, struct error *err);

/* Writes something about context to out. */
typedef int memory_printer(FILE *out, const void *context, struct error *err);

/* The same in one call, for what print writes; fails if print does, too. */
int memory_print(char **text, size_t *size, memory_printer *print,
		 const void *context, const char *what, struct error *err);

/* Texts that are numbered: 0 is the first that was seen, and so on. */
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
