/*
 * Kinds of rows. One macro lists a kind's columns. The struct's members, the
 * CSV header, the reader, the writer and results/README.md are made from it:
 *
 *	#define TOY_COLUMNS(TEXT, INT, REAL) \
 *		TEXT(schema, 12, "version of the columns", NEEDED) \
 *		INT(cores, "emulated cores") \
 *		REAL(loop_s, "the training loop")
 *
 *	struct toy {
 *		TOY_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
 *	};
 *
 *	DEFINE_ROWS(toy_rows, struct toy, TOY_COLUMNS);
 *
 * The number of a TEXT is its size in bytes, terminator included. New columns
 * are appended only; the reader finds columns by name.
 */
#ifndef BENCH_RECORD_COLUMN_H
#define BENCH_RECORD_COLUMN_H

#include <limits.h>
#include <math.h>
#include <stddef.h>

#include "bench/system/number.h"

#define CELL_NO_INT LONG_MIN /* written as an empty cell */
#define CELL_NO_REAL NAN     /* written as an empty cell, as any value that is
				not finite */

enum cell_kind {
	CELL_TEXT, /* char[size] */
	CELL_INT,  /* long */
	CELL_REAL  /* double, written with %.9g */
};

struct column {
	const char *name; /* ends with its unit: _s, _pct, _bytes */
	enum cell_kind kind;
	size_t offset, size;
	/* The last two members: a list sets both with __VA_ARGS__. */
	const char *meaning;
	int required; /* 1: a file without it is refused */
};

enum { NEEDED = 1 }; /* follows the meaning of a required column */

/* A kind of row. */
struct row_kind {
	const char *schema; /* value of the first column, "bench/1" */
	const struct column *columns;
	int column_count;
	size_t row_size;
};

/* Makes every cell missing and every text empty, except the schema in the first
 * column. */
void row_clear(const struct row_kind *kind, void *row);

/* Returns NULL if the kind has no column of this name. */
const struct column *row_column(const struct row_kind *kind, const char *name);

/*
 * Copies texts and integers of columns with equal names from another row; a
 * long text is cut. Real numbers are not copied: they are measured, and a row
 * about several others has their means.
 */
void row_describe(const struct row_kind *kind, void *row,
		  const struct row_kind *from_kind, const void *from);

/* Return the value of a column in row. */
const char *cell_text(const struct column *column, const void *row);
long cell_int(const struct column *column, const void *row);
double cell_real(const struct column *column, const void *row);

/* Returns any value as text, stored in number or in row; empty if missing. */
const char *cell_format(const struct column *column, const void *row,
			char number[NUMBER_SIZE]);

void cell_set_real(const struct column *column, void *row, double value);

#define TEXT_MEMBER(member, size, ...) char member[size];
#define INT_MEMBER(member, ...) long member;
#define REAL_MEMBER(member, ...) double member;

#define TEXT_COLUMN(member, size_, ...)                                        \
	{ .name = #member, .kind = CELL_TEXT, .offset = offsetof(ROW, member), \
	  .size = (size_), .meaning = __VA_ARGS__ },
#define INT_COLUMN(member, ...)                                                \
	{ .name = #member, .kind = CELL_INT, .offset = offsetof(ROW, member),  \
	  .size = sizeof(long), .meaning = __VA_ARGS__ },
#define REAL_COLUMN(member, ...)                                               \
	{ .name = #member, .kind = CELL_REAL, .offset = offsetof(ROW, member), \
	  .size = sizeof(double), .meaning = __VA_ARGS__ },
#define ROW_KIND(schema_, columns_)                                            \
	{ .schema = (schema_), .columns = (columns_),                          \
	  .column_count = sizeof(columns_) / sizeof((columns_)[0]),            \
	  .row_size = sizeof(ROW) }

/* Defines the only kind of a file. In a file with several kinds, each defines
 * ROW and uses ROW_KIND. */
#define DEFINE_ROWS(kind_, row_, COLUMNS_)                                     \
	typedef row_ ROW;                                                      \
	static const struct column kind_##_columns[] = {                       \
		COLUMNS_(TEXT_COLUMN, INT_COLUMN, REAL_COLUMN)                 \
	};                                                                     \
	const struct row_kind kind_ = ROW_KIND("bench/1", kind_##_columns)

#endif
