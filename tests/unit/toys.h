/* For tests: a kind of row, and a reader of it that is fed in pieces. */
#ifndef TESTS_TOYS_H
#define TESTS_TOYS_H

#include "bench/record/csv.h"
#include "tests/cmocka.h"

#define TOY_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version", NEEDED) \
	TEXT(name, 16, "a text", NEEDED) \
	INT(count, "an integer") \
	REAL(size_s, "a number", NEEDED)

struct toy {
	TOY_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

#define ROW struct toy
static const struct column toy_columns[] = {
	TOY_COLUMNS(TEXT_COLUMN, INT_COLUMN, REAL_COLUMN)
};

static const struct row_kind toys = ROW_KIND("toy/1", toy_columns);

static struct toy taken[8];
static int taken_count;
static long torn; /* as of csv_reader_torn */

static inline int take(const void *row, void *context, struct error *err)
{
	(void)context, (void)err;
	assert_true(taken_count < 8);
	taken[taken_count++] = *(const struct toy *)row;
	return 0;
}

/* Feeds text in pieces of `piece` bytes. */
static inline int feed(const char *text, size_t length, size_t piece,
		struct error *err)
{
	struct csv_reader *reader =
		csv_reader_open(&toys, "toys.csv", take, NULL, err);
	size_t at, size;
	int rc = 0;

	taken_count = 0;
	assert_non_null(reader);
	for (at = 0; at < length && rc == 0; at += size) {
		size = length - at < piece ? length - at : piece;
		rc = csv_reader_feed(reader, text + at, size, err);
	}
	if (rc == 0)
		rc = csv_reader_end(reader, err);
	torn = csv_reader_torn(reader);
	csv_reader_close(reader);
	return rc;
}

#define HEADER "schema,name,count,size_s\n"

#endif
