/*
 * How a table looks: columns of text lined up for a terminal, GitHub's
 * Markdown, or the post's Markdown with LaTeX and red.
 */
#ifndef BENCH_REPORT_TABLE_FORMAT_H
#define BENCH_REPORT_TABLE_FORMAT_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/statistics/stats.h"
#include "bench/system/number.h"

enum table_format {
	TABLE_PLAIN,  /* for a terminal, see width */
	TABLE_GITHUB, /* Markdown */
	TABLE_POST,   /* the post's Markdown, with LaTeX and red */
	TABLE_HTML    /* elements of a page; --format does not offer it */
};

struct table_options {
	enum table_format format;
	int with_post;	    /* the post's figures as rows */
	int include_warmup; /* warm-up steps count as iterations */
	int utf8;	    /* the reader's locale has the sign for +- */
	int color;	    /* plain: the best in bold, too */
	int width;	    /* plain: columns there are, for tables and notes;
			       0: 80 */
	int first;	    /* the first screen instead of the four tables */
	int quiet;	    /* of it the table alone */
	const char *where;  /* that the rest is in: arguments of `bench table`,
			       as a shell takes them; NULL: nowhere */
	int is_folder;	    /* where is one, which can be plotted */
};

/* Returns -1 if name is none of plain, github, post. */
int table_format_find(const char *name, enum table_format *format);

enum {
	GRID_TEXT = 128,
	GRID_TITLE = 2 * GRID_TEXT /* a label with words before it */
};

struct grid_cell {
	char text[GRID_TEXT]; /* "-" when there is nothing */
	double value, half;   /* the mean of several runs that may be the best
				 of its row, and half its interval; NAN */
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

/* Every cell "-". heads: one a column; NULL leaves them empty. */
int grid_make(struct grid *grid, const char *const *heads, int columns,
	      int rows, struct error *err);
struct grid_cell *grid_at(const struct grid *grid, int row, int column);

/* Draws the grid and frees it. */
void grid_end(struct grid *grid, const struct table_options *options,
	      FILE *out);

/* The number in a cell, which stays as it is for want of a finite one. */
void grid_set_number(const struct grid *grid, int row, int column, double value,
		     int decimals);
/* The same of a count, CELL_NO_INT for want of one. */
void grid_set_count(const struct grid *grid, int row, int column, long count);

/* The best of the row gets its mark if its interval overlaps with no other's.
 * sign: 1 if more is better, -1 if less is, 0 if neither. */
void grid_mark_best(const struct grid *grid, int row, int sign);

/* Text from outside as these options may show it, see bench/system/text.h. */
void clean_text(char *to, size_t size, const char *from,
		const struct table_options *options);

/* The sign in UTF-8, or +-. */
const char *plus_minus(const struct table_options *options);

/* A number as bench/system/number.h prints it, for a list of arguments. */
struct number_text {
	char text[NUMBER_SIZE];
};
struct number_text fixed_text(double value, int decimals);

/* "[1.81, 1.87]", likewise. */
struct interval_text {
	char text[2 * NUMBER_SIZE + 8];
};
struct interval_text interval_text(double low, double high, int decimals);

/* As many decimals as make three digits, at most so many, or what makes two
 * where that is more. */
int decimals_of(double shown, int most);

/* Is the deviation larger than the mean? Then median and quartiles say more. */
int is_skewed(const struct stats *stats);

/* One value and, if it is finite, its spread. */
void format_spread(char text[GRID_TEXT], double value, double spread,
		   int decimals, const struct table_options *options);
void format_quartiles(char text[GRID_TEXT], const struct stats *stats,
		      double factor, int decimals,
		      const struct table_options *options);

/* Text from outside, escaped, between what is not. */
void print_html(FILE *out, const char *before, const char *text,
		const char *after);

/* A line, wrapped for a terminal, that is cleaned here, but for what is before
 * it; and one under a table. */
void print_line(FILE *out, const struct table_options *options,
		const char *before, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
#define print_note(out, options, ...) \
	print_line(out, options, "- ", __VA_ARGS__)

#endif
