/* What fills the templates behind bench/app/page.h. */
#ifndef BENCH_APP_PAGE_PARTS_H
#define BENCH_APP_PAGE_PARTS_H

#include <stdio.h>

struct page_part {
	const char *name; /* NULL: the last */
	void (*print)(FILE *out);
};

extern const struct page_part man_parts[], bash_parts[], zsh_parts[],
	fish_parts[];

/*
 * Text between single quotes of a shell. Before each character of special
 * comes a backslash; quote is how a single quote is written.
 */
void print_quoted(FILE *out, const char *text, const char *special,
		  const char *quote);

#endif
