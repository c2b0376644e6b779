/*
 * How a table looks: columns of text lined up for a terminal, GitHub's
 * Markdown, or the post's Markdown with LaTeX and red.
 */
#ifndef BENCH_SHOW_TABLE_FORMAT_H
#define BENCH_SHOW_TABLE_FORMAT_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/stats.h"
#include "bench/show/table.h"

enum {
	GRID_TEXT = 128,
	GRID_TITLE = 2 * GRID_TEXT /* a label with words before it */
};

struct grid_cell {
	char text[GRID_TEXT]; /* "-" when there is nothing */
	int best;	      /* of its row */
};

/* A table before it is drawn. Texts are clean, see clean_text. */
struct grid {
	char title[GRID_TITLE];
	char corner[GRID_TITLE];
	int columns, rows;
	int unmarked; /* none of it can be the best of its row */
	char (*heads)[GRID_TEXT]; /* of two lines, if there is a \n in it */
	char (*labels)[GRID_TEXT];
	int *widths; /* of the columns, when it is drawn */
	struct grid_cell *cells; /* [rows][columns] */
};

/* Every cell "-". */
int grid_make(struct grid *grid, int columns, int rows, struct error *err);
void grid_free(struct grid *grid); /* all zero is fine */
struct grid_cell *grid_at(const struct grid *grid, int row, int column);
void grid_draw(const struct grid *grid, const struct table_options *options,
	       FILE *out);

/* Text from outside as these options may show it, see bench/system/text.h. */
void clean_text(char *to, size_t size, const char *from,
		const struct table_options *options);

/* The sign in UTF-8, or +-. */
const char *plus_minus(const struct table_options *options);

/* One value and, if it is finite, its spread. */
void format_spread(char text[GRID_TEXT], double value, double spread,
		   int decimals, const struct table_options *options);
void format_quartiles(char text[GRID_TEXT], const struct stats *stats,
		      double factor, int decimals,
		      const struct table_options *options);

/* A line under a table, wrapped for a terminal. It is cleaned here. */
void print_note(FILE *out, const struct table_options *options,
		const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same as a paragraph of its own. */
void print_paragraph(FILE *out, const struct table_options *options,
		     const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
