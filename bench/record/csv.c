#include "bench/record/csv.h"

#include <csv.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/system/file.h"
#include "bench/system/number.h"
#include "bench/system/text.h"

enum { MOST_CELL = 64 * 1024, MOST_CELLS = 1024 };

static const char byte_order_mark[] = "\xEF\xBB\xBF";

struct csv_reader {
	const struct row_kind *kind;
	char source[256];
	csv_handler *handle;
	void *context;
	struct csv_parser parser;
	const struct column *columns[MOST_CELLS]; /* NULL: unknown, skipped */
	int width;  /* cells in the header; 0: not yet read */
	int cell;   /* cells of this row so far */
	long line;  /* being parsed, from 1 */
	int spans;  /* the row began on a line before */
	int ending; /* 1: no more bytes follow */
	long torn;  /* line that was passed over; 0: none */
	int mark;   /* bytes of the mark seen; 3: decided */
	void *row;
	int failed;
	struct error error; /* the first one */
};

/* A leading ' hides a formula from a spreadsheet. One more is taken from text
 * that starts with some already, so that reading gives back what was there. */
static int looks_like_formula(const char *text)
{
	text += strspn(text, "'");
	return *text && strchr("=+-@", *text) != NULL;
}

/* Makes text valid UTF-8 of the same length on one line; an invalid byte
 * becomes ?, as at the end of text that was cut. */
static void clean_text(char *text)
{
	unsigned number;
	int size;

	for (; *text; text += size) {
		size = text_decode(text, &number);
		if (number < ' ' || number == 0x7f)
			*text = ' ';
		else if (size == 1 && number >= 0x80)
			*text = '?';
	}
}

static void write_text(FILE *out, const char *text, size_t size)
{
	char buffer[1024];
	size_t at = 0;

	if (looks_like_formula(text))
		buffer[at++] = '\'';
	snprintf(buffer + at, sizeof(buffer) - at, "%.*s", (int)size, text);
	clean_text(buffer);
	at = strlen(buffer);
	/* The parser drops spaces around what is not quoted. */
	if (strpbrk(buffer, ",\"") || buffer[0] == ' ' ||
	    (at > 0 && buffer[at - 1] == ' ') ||
	    strncmp(buffer, byte_order_mark, 3) == 0)
		csv_fwrite(out, buffer, at);
	else
		fputs(buffer, out);
}

void csv_print_header(char text[CSV_HEADER_SIZE], const struct row_kind *kind)
{
	text[0] = '\0';
	for (int i = 0; i < kind->column_count; i++)
		text_append(text, CSV_HEADER_SIZE, "%s%s", i ? "," : "",
			    kind->columns[i].name);
	text_append(text, CSV_HEADER_SIZE, "\n");
}

void csv_write_header(FILE *out, const struct row_kind *kind)
{
	char text[CSV_HEADER_SIZE];

	csv_print_header(text, kind);
	fputs(text, out);
}

void csv_write_row(FILE *out, const struct row_kind *kind, const void *row)
{
	const struct column *column;
	char number[NUMBER_SIZE];
	int i;

	for (i = 0; i < kind->column_count; i++) {
		column = &kind->columns[i];
		if (i)
			fputc(',', out);
		if (column->kind == CELL_TEXT)
			write_text(out, cell_text(column, row), column->size);
		else
			fputs(cell_format(column, row, number), out);
	}
	fputc('\n', out);
}

void csv_write_rows(FILE *out, const struct row_kind *kind, const void *rows,
		    size_t count)
{
	csv_write_header(out, kind);
	for (size_t r = 0; r < count; r++)
		csv_write_row(out, kind,
			      (const char *)rows + r * kind->row_size);
}

struct whole_file {
	const struct row_kind *kind;
	const void *rows;
	size_t count;
};

static int print_file(FILE *out, const void *context, struct error *err)
{
	const struct whole_file *file = context;

	(void)err;
	csv_write_rows(out, file->kind, file->rows, file->count);
	return 0;
}

int csv_write_file(const char *path, const struct row_kind *kind,
		   const void *rows, size_t count, struct error *err)
{
	const struct whole_file file = { kind, rows, count };

	return file_replace_with(path, print_file, &file, err);
}

/* Returns 1 if the last line lacks its end: its last cell may have been
 * longer. */
static int is_torn(const struct csv_reader *reader)
{
	return reader->ending && reader->width && !reader->spans;
}

/* Only the first failure counts; the parser cannot be stopped inside a line. */
static void reader_fail(struct csv_reader *reader, const char *name,
			const char *expected, const char *found)
{
	const char *gap = name[0] ? ": " : "";
	char clean[64];

	if (reader->failed || reader->torn)
		return;
	if (is_torn(reader)) {
		reader->torn = reader->line;
		return;
	}
	reader->failed = 1;
	text_clean(clean, sizeof(clean), found ? found : "", 0);
	if (found)
		error_set(&reader->error, ERROR_INPUT,
			  "%s:%ld:%d: %s%sexpected %s, found \"%s\"%s",
			  reader->source, reader->line, reader->cell + 1, name,
			  gap, expected, clean,
			  strlen(found) >= sizeof(clean) ? " and more" : "");
	else
		error_set(&reader->error, ERROR_INPUT, "%s:%ld:%d: %s%s%s",
			  reader->source, reader->line, reader->cell + 1, name,
			  gap, expected);
}

static void read_name(struct csv_reader *reader, const char *name)
{
	const struct column *column = row_column(reader->kind, name);

	if (reader->cell >= MOST_CELLS) {
		reader_fail(reader, "", "expected at most 1024 columns", NULL);
		return;
	}
	for (int i = 0; i < reader->cell && column; i++)
		if (reader->columns[i] == column)
			reader_fail(reader, name, "this column appears twice",
				    NULL);
	reader->columns[reader->cell] = column;
}

static void read_value(struct csv_reader *reader, const char *value)
{
	const struct column *column;
	char *cell;

	if (reader->cell >= reader->width) {
		reader_fail(reader, "", "more cells than the header has", NULL);
		return;
	}
	column = reader->columns[reader->cell];
	if (!column)
		return;
	cell = (char *)reader->row + column->offset;
	if (column->kind == CELL_TEXT) {
		if (value[0] == '\'' && looks_like_formula(value))
			value++;
		if (strlen(value) >= column->size)
			reader_fail(reader, column->name, "a shorter text",
				    value);
		else
			strncpy(cell, value, column->size);
		if (column == reader->kind->columns &&
		    strcmp(value, reader->kind->schema) != 0)
			reader_fail(reader, column->name, reader->kind->schema,
				    value);
	} else if (*value && column->kind == CELL_INT &&
		   number_parse_int(value, (long *)(void *)cell)) {
		reader_fail(reader, column->name, "a whole number", value);
	} else if (*value && column->kind == CELL_REAL &&
		   number_parse_real(value, (double *)(void *)cell)) {
		reader_fail(reader, column->name, "a number", value);
	}
}

static void on_cell(void *text, size_t length, void *context)
{
	struct csv_reader *reader = context;

	(void)length;
	if (reader->failed || reader->torn)
		return;
	if (!reader->width)
		read_name(reader, text);
	else
		read_value(reader, text);
	reader->cell++;
}

static void read_header(struct csv_reader *reader)
{
	for (int i = 0; i < reader->kind->column_count; i++) {
		const struct column *column = &reader->kind->columns[i];
		int found = !column->required;

		for (int cell = 0; cell < reader->cell; cell++)
			found |= reader->columns[cell] == column;
		if (!found)
			reader_fail(reader, column->name,
				    "this column is not in the header: not a "
				    "file of bench run's rows",
				    NULL);
	}
	reader->width = reader->cell;
}

static void hand_over(struct csv_reader *reader)
{
	struct error err;

	if (reader->handle(reader->row, reader->context, &err) == 0)
		return;
	reader->failed = 1;
	reader->error = err;
	if (err.kind == ERROR_INPUT)
		error_set(&reader->error, ERROR_INPUT, "%s:%ld: %.700s",
			  reader->source, reader->line, err.message);
}

static void on_row(int end, void *context)
{
	struct csv_reader *reader = context;

	(void)end;
	if (reader->failed || reader->torn)
		return;
	if (!reader->width) {
		read_header(reader);
	} else if (reader->cell < reader->width) {
		reader_fail(reader, "", "fewer cells than the header has",
			    NULL);
	} else if (reader->ending) {
		reader_fail(reader, "", "the last row has no line end", NULL);
	} else {
		hand_over(reader);
	}
	reader->spans = 0;
	reader->cell = 0;
	row_clear(reader->kind, reader->row);
}

/* Refuses cells longer than any that this program writes. errno distinguishes
 * that from a lack of memory. */
static void *capped_realloc(void *memory, size_t size)
{
	if (size <= MOST_CELL)
		return realloc(memory, size);
	errno = EFBIG;
	return NULL;
}

struct csv_reader *csv_reader_open(const struct row_kind *kind,
				   const char *source, csv_handler *handle,
				   void *context, struct error *err)
{
	struct csv_reader *reader = calloc(1, sizeof(*reader));

	if (!reader || !(reader->row = malloc(kind->row_size)) ||
	    csv_init(&reader->parser,
		     CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL)) {
		if (reader)
			free(reader->row);
		free(reader);
		error_memory(err, "reading rows");
		return NULL;
	}
	csv_set_realloc_func(&reader->parser, capped_realloc);
	reader->kind = kind;
	snprintf(reader->source, sizeof(reader->source), "%s", source);
	reader->handle = handle;
	reader->context = context;
	reader->line = 1;
	row_clear(kind, reader->row);
	return reader;
}

void csv_reader_close(struct csv_reader *reader)
{
	if (!reader)
		return;
	csv_free(&reader->parser);
	free(reader->row);
	free(reader);
}

static void parser_fail(struct csv_reader *reader)
{
	if (csv_error(&reader->parser) == CSV_ENOMEM && errno == ENOMEM) {
		reader->failed = 1;
		error_memory(&reader->error, reader->source);
	} else if (csv_error(&reader->parser) == CSV_EPARSE) {
		reader_fail(reader, "",
			    "a quote in the wrong place, or a missing one at "
			    "the end",
			    NULL);
	} else {
		reader_fail(reader, "", "a cell longer than 64 KiB "
			    "(a quote that is never closed?)", NULL);
	}
}

static int reader_status(const struct csv_reader *reader, struct error *err)
{
	if (!reader->failed)
		return 0;
	*err = reader->error;
	return -1;
}

/* A byte-order mark, in however many pieces it comes, is not part of the first
 * name. Returns how many bytes are dealt with. */
static size_t skip_mark(struct csv_reader *reader, const char *bytes,
			size_t count)
{
	size_t i = 0;

	while (i < count && reader->mark < 3 &&
	       bytes[i] == byte_order_mark[reader->mark]) {
		reader->mark++;
		i++;
	}
	if (i == count || reader->mark == 3)
		return i;
	csv_parse(&reader->parser, byte_order_mark, (size_t)reader->mark,
		  on_cell, on_row, reader);
	reader->mark = 3;
	return i;
}

/* Feeds at most one line. Bytes before a NUL are parsed, to find its cell. */
static void feed_line(struct csv_reader *reader, const char *bytes,
		      size_t count)
{
	const char *nul = memchr(bytes, '\0', count);
	size_t length = nul ? (size_t)(nul - bytes) : count;

	if (csv_parse(&reader->parser, bytes, length, on_cell, on_row,
		      reader) != length)
		parser_fail(reader);
	else if (nul)
		reader_fail(reader, "", "a NUL byte: this is not text", NULL);
}

int csv_reader_feed(struct csv_reader *reader, const char *bytes, size_t count,
		    struct error *err)
{
	const char *newline;
	size_t at, length;

	at = reader->mark < 3 ? skip_mark(reader, bytes, count) : 0;
	/* Line by line, because the parser does not count lines. */
	for (; at < count && !reader->failed; at += length) {
		newline = memchr(bytes + at, '\n', count - at);
		length = newline ? (size_t)(newline - bytes) + 1 - at :
				   count - at;
		feed_line(reader, bytes + at, length);
		if (newline) {
			reader->line++;
			reader->spans = reader->parser.quoted != 0;
		}
	}
	return reader_status(reader, err);
}

int csv_reader_end(struct csv_reader *reader, struct error *err)
{
	reader->ending = 1;
	if (!reader->failed &&
	    csv_fini(&reader->parser, on_cell, on_row, reader))
		parser_fail(reader);
	return reader_status(reader, err);
}

long csv_reader_torn(const struct csv_reader *reader)
{
	return reader->torn;
}
