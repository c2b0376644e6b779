/*
 * `bench help --generate`: prints the man page and the completions of shells,
 * from files in this folder. In the man page, a line @NAME@ is replaced by text
 * from the tables of options, models and data sets.
 */
#ifndef BENCH_COMMANDS_PAGE_H
#define BENCH_COMMANDS_PAGE_H

#include <stdio.h>

/* Replaces a line @NAME@. */
struct page_part {
	const char *name; /* NULL ends a table */
	void (*print)(FILE *out);
};

extern const struct page_part man_parts[];

/* Prints a page. name is one of the choices of --generate. */
void page_print(FILE *out, const char *name);

#endif
