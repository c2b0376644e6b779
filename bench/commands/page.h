/*
 * `bench help --generate`: the man page and the completions of shells, from
 * files in this folder. In that of the man page a line with @NAME@ stands for
 * what the tables of options, models and data sets give.
 */
#ifndef BENCH_COMMANDS_PAGE_H
#define BENCH_COMMANDS_PAGE_H

#include <stdio.h>

/* What stands for a line with @NAME@. */
struct page_part {
	const char *name; /* NULL: the last */
	void (*print)(FILE *out);
};

extern const struct page_part man_parts[];

/* name is one of the choices of --generate. */
void page_print(FILE *out, const char *name);

#endif
