/*
 * Rows in CSV files (RFC 4180, UTF-8, '\n', header first). libcsv's header is
 * also called csv.h: include this one as "bench/record/csv.h".
 *
 * A row is one line: control characters in text become spaces. Bytes that are
 * not UTF-8, as in a file's name, become question marks. Text that a
 * spreadsheet would take for a formula gets a leading ', which the reader
 * removes. A missing value is an empty cell, never 0, nan or inf.
 */
#ifndef BENCH_RECORD_CSV_H
#define BENCH_RECORD_CSV_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/column.h"

enum { CSV_HEADER_SIZE = 4096 }; /* enough for any kind */

/* Writes the header line to text. */
void csv_print_header(char text[CSV_HEADER_SIZE], const struct row_kind *kind);

/* Write the header line, and one line for row. The caller checks ferror(). */
void csv_write_header(FILE *out, const struct row_kind *kind);
void csv_write_row(FILE *out, const struct row_kind *kind, const void *row);

/* Write the header and an array of count rows: to out, or to a file that
 * replaces the one at path. */
void csv_write_rows(FILE *out, const struct row_kind *kind, const void *rows,
		    size_t count);
int csv_write_file(const char *path, const struct row_kind *kind,
		   const void *rows, size_t count, struct error *err);

/*
 * Reads rows as they arrive. csv_reader_feed() takes any number of bytes and
 * calls handle once per complete row; csv_reader_end() reports an incomplete
 * one. Errors are ERROR_INPUT and start with source:line:cell, both from 1.
 * Unknown columns are skipped; missing required columns and duplicates are
 * errors. After an error the reader can only be closed. No bytes, or a header
 * only, are no error.
 *
 * A process that is ended while it writes leaves a last line without '\n',
 * which may look complete. csv_reader_end() skips it and returns 0;
 * csv_reader_torn() returns its number, or 0 if there is none. A header without
 * rows may lack its '\n'.
 */
struct csv_reader;
typedef int csv_handler(const void *row, void *context, struct error *err);
csv_handler csv_ignore; /* drops all rows */

struct csv_reader *csv_reader_open(const struct row_kind *kind,
				   const char *source, csv_handler *handle,
				   void *context, struct error *err);
int csv_reader_feed(struct csv_reader *reader, const char *bytes, size_t count,
		    struct error *err);
int csv_reader_end(struct csv_reader *reader, struct error *err);
long csv_reader_torn(const struct csv_reader *reader);
void csv_reader_close(struct csv_reader *reader); /* NULL is allowed */

/* Reads a whole file. The caller frees the array *rows. Fails also for a file
 * without rows and for a torn line. */
int csv_read(const char *path, const struct row_kind *kind, void **rows,
	     size_t *count, struct error *err);

/*
 * Reads a whole file whose rows are of one of several kinds, recognised by the
 * header; the kind's handle gets each row. Does not block on a FIFO without a
 * writer.
 */
struct csv_sink {
	const struct row_kind *kind;
	csv_handler *handle;
	void *context;
};
struct csv_found {
	size_t rows;	/* rows passed to handle */
	long torn_line; /* as csv_reader_torn() returns it */
};
int csv_scan(const char *path, const struct csv_sink *sinks, int count,
	     struct csv_found *found, struct error *err);

#endif
