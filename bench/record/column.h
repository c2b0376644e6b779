/*
 * A kind of row as a table of its columns: the CSV header, the reader, the
 * writer and results/README.md come from it. Adding a column is adding a line;
 * columns are only ever appended, and found by name when read.
 */
#ifndef BENCH_RECORD_COLUMN_H
#define BENCH_RECORD_COLUMN_H

#include <limits.h>
#include <math.h>
#include <stddef.h>

#define CELL_NO_INT LONG_MIN /* written as an empty cell */
#define CELL_NO_REAL NAN     /* likewise, as is every value not finite */

enum cell_kind {
	CELL_TEXT, /* char[size] */
	CELL_INT,  /* long */
	CELL_REAL  /* double, written with %.9g */
};

struct column {
	const char *name; /* ends in its unit: _s, _pct, _bytes */
	const char *meaning;
	enum cell_kind kind;
	size_t offset, size;
	int required; /* a file without it is refused */
};

/* One kind of row. */
struct row_kind {
	const char *schema; /* value of the first column, "bench/1" */
	const struct column *columns;
	int column_count;
	size_t row_size;
};

/* Every cell missing, text empty, but the schema, which is the first column. */
void row_clear(const struct row_kind *kind, void *row);

/* The value of a column in row. */
const char *cell_text(const struct column *column, const void *row);
long cell_int(const struct column *column, const void *row);
double cell_real(const struct column *column, const void *row);

#define COLUMN_TEXT(type, member, meaning_, required_)                         \
	{ .name = #member, .meaning = meaning_, .kind = CELL_TEXT,             \
	  .offset = offsetof(struct type, member),                             \
	  .size = sizeof(((struct type *)0)->member), .required = required_ }
#define COLUMN_INT(type, member, meaning_, required_)                          \
	{ .name = #member, .meaning = meaning_, .kind = CELL_INT,              \
	  .offset = offsetof(struct type, member), .size = sizeof(long),       \
	  .required = required_ }
#define COLUMN_REAL(type, member, meaning_, required_)                         \
	{ .name = #member, .meaning = meaning_, .kind = CELL_REAL,             \
	  .offset = offsetof(struct type, member), .size = sizeof(double),     \
	  .required = required_ }

#endif
