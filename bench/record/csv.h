/*
 * Rows in CSV files (RFC 4180, UTF-8, '\n', header first). libcsv's header is
 * also called csv.h: include this one as "bench/record/csv.h".
 *
 * A row is one line: control characters in text become spaces. Text is UTF-8:
 * other bytes, as in the name of a file, become question marks. Text that a
 * spreadsheet would take for a formula gets a ' in front, which the reader
 * takes away again. What is missing is an empty cell, never 0, nan or inf.
 */
#ifndef BENCH_RECORD_CSV_H
#define BENCH_RECORD_CSV_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/column.h"

enum { CSV_HEADER_SIZE = 4096 }; /* that of any kind has room */

/* The header line, as text. */
void csv_print_header(char text[CSV_HEADER_SIZE], const struct row_kind *kind);

/* The header line, and one line for row; the caller checks ferror(). */
void csv_write_header(FILE *out, const struct row_kind *kind);
void csv_write_row(FILE *out, const struct row_kind *kind, const void *row);

/* The header and count rows that lie one behind the other; or a whole file of
 * them, which takes the place of the one at path. */
void csv_write_rows(FILE *out, const struct row_kind *kind, const void *rows,
		    size_t count);
int csv_write_file(const char *path, const struct row_kind *kind,
		   const void *rows, size_t count, struct error *err);

/*
 * Reads rows as they arrive. feed accepts any bytes and calls handle once for
 * each complete row; end reports what is left half read. Errors are ERROR_INPUT
 * and start with source:line:cell, both from 1. Unknown columns are skipped;
 * required ones that are absent, and duplicate ones, are errors. After an error
 * the reader can only be closed. Nothing at all, and a header alone, are fine
 * here.
 *
 * A last line without its '\n' is what a process leaves that is ended while it
 * writes, however whole it looks: end passes over it and returns 0, and torn
 * its number; 0 if there was none. A header alone may be without.
 */
struct csv_reader;
typedef int csv_handler(const void *row, void *context, struct error *err);
csv_handler csv_ignore; /* takes rows that nobody wants */

struct csv_reader *csv_reader_open(const struct row_kind *kind,
				   const char *source, csv_handler *handle,
				   void *context, struct error *err);
int csv_reader_feed(struct csv_reader *reader, const char *bytes, size_t count,
		    struct error *err);
int csv_reader_end(struct csv_reader *reader, struct error *err);
long csv_reader_torn(const struct csv_reader *reader);
void csv_reader_close(struct csv_reader *reader); /* NULL is fine */

/* A whole file at once: *rows is an array that the caller frees. A file
 * without rows is an error, and so is a torn line. */
int csv_read(const char *path, const struct row_kind *kind, void **rows,
	     size_t *count, struct error *err);

/*
 * A whole file whose rows are of one of several kinds, told by the header; the
 * kind's handle gets each row. Never waits for the writer of a FIFO to come.
 */
struct csv_sink {
	const struct row_kind *kind;
	csv_handler *handle;
	void *context;
};
struct csv_found {
	size_t rows;	/* given to handle, 0 included */
	long torn_line; /* as of csv_reader_torn */
};
int csv_scan(const char *path, const struct csv_sink *sinks, int count,
	     struct csv_found *found, struct error *err);

#endif
