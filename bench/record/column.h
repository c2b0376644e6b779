/*
 * Kinds of rows. Each is one list of its columns, a macro, from which come the
 * struct's members, the CSV header, the reader, the writer and
 * results/README.md:
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
 * A text has its size in bytes, the end included. Adding a column is adding a
 * line; columns are only ever appended, and found by name when read.
 */
#ifndef BENCH_RECORD_COLUMN_H
#define BENCH_RECORD_COLUMN_H

#include <limits.h>
#include <math.h>
#include <stddef.h>

#include "bench/system/number.h"

#define CELL_NO_INT LONG_MIN /* written as an empty cell */
#define CELL_NO_REAL NAN     /* likewise, as is every value not finite */

enum cell_kind {
	CELL_TEXT, /* char[size] */
	CELL_INT,  /* long */
	CELL_REAL  /* double, written with %.9g */
};

struct column {
	const char *name; /* ends in its unit: _s, _pct, _bytes */
	enum cell_kind kind;
	size_t offset, size;
	/* These two are last, since a list gives them together. */
	const char *meaning;
	int required; /* a file without it is refused */
};

enum { NEEDED = 1 }; /* behind a meaning: the column is required */

/* One kind of row. */
struct row_kind {
	const char *schema; /* value of the first column, "bench/1" */
	const struct column *columns;
	int column_count;
	size_t row_size;
};

/* Every cell missing, text empty, but the schema, which is the first column. */
void row_clear(const struct row_kind *kind, void *row);

/* NULL if the kind has none of this name. */
const struct column *row_column(const struct row_kind *kind, const char *name);

/*
 * Sets those texts and whole numbers of a row that another has by the same
 * name; a text that is too long is cut. Numbers with a fraction stay: they are
 * measured, and a row about several others has means of them.
 */
void row_describe(const struct row_kind *kind, void *row,
		  const struct row_kind *from_kind, const void *from);

/* The value of a column in row. */
const char *cell_text(const struct column *column, const void *row);
long cell_int(const struct column *column, const void *row);
double cell_real(const struct column *column, const void *row);

/* Any value as text, in number or the row itself; empty where it is missing. */
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

/* The one kind of a file. Where there are several, each defines ROW. */
#define DEFINE_ROWS(kind_, row_, COLUMNS_)                                     \
	typedef row_ ROW;                                                      \
	static const struct column kind_##_columns[] = {                       \
		COLUMNS_(TEXT_COLUMN, INT_COLUMN, REAL_COLUMN)                 \
	};                                                                     \
	const struct row_kind kind_ = ROW_KIND("bench/1", kind_##_columns)

#endif
