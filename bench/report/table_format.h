/* The format of a table: aligned columns for a terminal, GitHub's Markdown, or
 * the post's Markdown with LaTeX and red. */
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
	TABLE_HTML    /* elements of a page; not a choice of --format */
};

struct table_options {
	enum table_format format;
	int with_post;	    /* 1: the post's figures are rows */
	int include_warmup; /* 1: warm-up steps count as iterations */
	int utf8;	    /* 1: the reader's locale has the plus-minus sign */
	int color;	    /* plain: 1: the best is bold */
	int width;	    /* plain: columns of tables and notes; 0 = 80 */
	int first;	    /* 1: the first screen instead of the four tables */
	int quiet;	    /* 1: the first screen's table only */
	const char *where;  /* where the rest is: arguments of `bench table` for
			       a shell; NULL = nowhere */
	int is_folder;	    /* 1: where is a folder, which can be plotted */
};

/* Returns -1 if name is not plain, github or post. */
int table_format_find(const char *name, enum table_format *format);

enum {
	GRID_TEXT = 128,
	GRID_TITLE = 2 * GRID_TEXT /* a label after other words */
};

struct grid_cell {
	char text[GRID_TEXT]; /* "-" = no value */
	double value, half;   /* mean of several runs that may be the best of
				 its row, and half its interval; NAN = none */
	int best;	      /* 1: the best of its row */
};

/* A table before it is drawn. All texts are clean, see clean_text(). */
struct grid {
	char title[GRID_TITLE];
	char corner[GRID_TITLE];
	int columns, rows;
	int unmarked; /* 1: no cell can be the best of its row */
	char (*heads)[GRID_TEXT]; /* two lines if they contain \n */
	char (*labels)[GRID_TEXT];
	int *widths; /* of the columns, set while drawing */
	struct grid_cell *cells; /* [rows][columns] */
};

/* Makes a grid with "-" in every cell. heads: one per column; NULL = empty.
 * Fails only if there is no memory. */
int grid_make(struct grid *grid, const char *const *heads, int columns,
	      int rows, struct error *err);
struct grid_cell *grid_at(const struct grid *grid, int row, int column);

/* Draws the grid and frees it. */
void grid_end(struct grid *grid, const struct table_options *options,
	      FILE *out);

/* Sets a cell to a number. A value that is not finite is ignored. */
void grid_set_number(const struct grid *grid, int row, int column, double value,
		     int decimals);
/* Sets a cell to a count. CELL_NO_INT is ignored. */
void grid_set_count(const struct grid *grid, int row, int column, long count);

/* Marks the best cell of a row if its interval overlaps with no other. sign: 1
 * if more is better, -1 if less is, 0 if neither. */
void grid_mark_best(const struct grid *grid, int row, int sign);

/* Copies text from outside as these options allow, see bench/system/text.h. */
void clean_text(char *to, size_t size, const char *from,
		const struct table_options *options);

/* Returns the plus-minus sign in UTF-8, or "+-". */
const char *plus_minus(const struct table_options *options);

/* Returns a number as by bench/system/number.h, for a list of arguments. */
struct number_text {
	char text[NUMBER_SIZE];
};
struct number_text fixed_text(double value, int decimals);

/* Returns "[1.81, 1.87]". */
struct interval_text {
	char text[2 * NUMBER_SIZE + 8];
};
struct interval_text interval_text(double low, double high, int decimals);

/* Returns the decimals that show three digits, at most most. Returns the
 * decimals for two digits if these are more. */
int decimals_of(double shown, int most);

/* Returns 1 if the deviation exceeds the mean; median and quartiles then say
 * more. */
int is_skewed(const struct stats *stats);

/* Writes a value, and its spread if that is finite. */
void format_spread(char text[GRID_TEXT], double value, double spread,
		   int decimals, const struct table_options *options);
void format_quartiles(char text[GRID_TEXT], const struct stats *stats,
		      double factor, int decimals,
		      const struct table_options *options);

/* Prints text from outside, escaped, between markup. */
void print_html(FILE *out, const char *before, const char *text,
		const char *after);

/* print_line() prints a cleaned line, wrapped for a terminal; before is neither
 * cleaned nor wrapped. print_note() prints a line under a table. */
void print_line(FILE *out, const struct table_options *options,
		const char *before, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
#define print_note(out, options, ...) \
	print_line(out, options, "- ", __VA_ARGS__)

#endif
