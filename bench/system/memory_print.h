/* Printing into memory, so that what goes into a file is whole before. */
#ifndef BENCH_SYSTEM_MEMORY_PRINT_H
#define BENCH_SYSTEM_MEMORY_PRINT_H

#include <stddef.h>
#include <stdio.h>

#include "backends/contract/error.h"

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

#endif
