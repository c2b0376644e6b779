#include "bench/record/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/system/memory.h"

enum { PIECE = 64 * 1024 };

int csv_ignore(const void *row, void *context, struct error *err)
{
	(void)row, (void)context, (void)err;
	return 0;
}

/* Would a reader of this kind take the header that bytes start with? */
static int sink_fits(const struct csv_sink *sink, const char *path,
		     const char *bytes, size_t count, struct error *err)
{
	struct csv_reader *reader;
	const char *newline = memchr(bytes, '\n', count);
	size_t length = newline ? (size_t)(newline - bytes) + 1 : count;
	int rc;

	reader = csv_reader_open(sink->kind, path, csv_ignore, NULL, err);
	if (!reader)
		return -1;
	rc = csv_reader_feed(reader, bytes, length, err);
	if (rc == 0)
		rc = csv_reader_end(reader, err);
	csv_reader_close(reader);
	return rc;
}

/* The first sink whose columns are there; the first one's complaint if none,
 * unless it was no matter of columns. */
static const struct csv_sink *choose_sink(const struct csv_sink *sinks,
					  int count, const char *path,
					  const char *bytes, size_t length,
					  struct error *err)
{
	struct error other;
	int i;

	for (i = 0; i < count; i++) {
		if (sink_fits(&sinks[i], path, bytes, length, &other) == 0)
			return &sinks[i];
		if (i == 0 || other.kind != ERROR_INPUT)
			*err = other;
		if (other.kind != ERROR_INPUT)
			break;
	}
	return NULL;
}

struct counted {
	const struct csv_sink *sink;
	struct csv_found *found;
};

static int count_row(const void *row, void *context, struct error *err)
{
	struct counted *counted = context;

	counted->found->rows++;
	return counted->sink->handle(row, counted->sink->context, err);
}

static int read_error(const char *path, struct error *err)
{
	if (errno == ENOMEM)
		return error_memory(err, path);
	return error_set(err, errno == ENOENT ? ERROR_MISSING : ERROR_INPUT,
			 "cannot read %s: %s", path, strerror(errno));
}

static int scan_stream(FILE *in, const char *path, const struct csv_sink *sinks,
		       int count, struct counted *counted, struct error *err)
{
	struct csv_reader *reader = NULL;
	char *piece = malloc(PIECE);
	size_t length;
	int rc = -1;

	if (!piece) {
		error_memory(err, path);
		goto out;
	}
	while ((length = fread(piece, 1, PIECE, in)) > 0) {
		if (!reader) {
			counted->sink = choose_sink(sinks, count, path, piece,
						    length, err);
			if (!counted->sink)
				goto out;
			reader = csv_reader_open(counted->sink->kind, path,
						 count_row, counted, err);
			if (!reader)
				goto out;
		}
		if (csv_reader_feed(reader, piece, length, err))
			goto out;
	}
	if (ferror(in))
		rc = read_error(path, err);
	else if (!reader)
		rc = error_set(err, ERROR_INPUT, "%s:1:1: the file is empty, "
			       "expected a header and rows", path);
	else
		rc = csv_reader_end(reader, err);
	if (reader)
		counted->found->torn_line = csv_reader_torn(reader);
out:
	csv_reader_close(reader);
	free(piece);
	return rc;
}

/* Opens a file. A FIFO without a writer is empty; otherwise reading waits, as
 * for any pipe. */
static FILE *open_to_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	FILE *in = NULL;

	if (fd < 0)
		return NULL;
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) == 0)
		in = fdopen(fd, "rb");
	if (!in)
		close(fd);
	return in;
}

int csv_scan(const char *path, const struct csv_sink *sinks, int count,
	     struct csv_found *found, struct error *err)
{
	struct counted counted = { NULL, found };
	FILE *in = open_to_read(path);
	int rc;

	*found = (struct csv_found){ 0 };
	if (!in)
		return read_error(path, err);
	rc = scan_stream(in, path, sinks, count, &counted, err);
	fclose(in);
	return rc;
}

struct array {
	void *rows;
	size_t count, room, row_size;
};

static int array_add(const void *row, void *context, struct error *err)
{
	struct array *array = context;

	if (array_make_room(&array->rows, array->count, &array->room,
			    array->row_size, "rows", err))
		return -1;
	memcpy((char *)array->rows + array->count++ * array->row_size, row,
	       array->row_size);
	return 0;
}

int csv_read(const char *path, const struct row_kind *kind, void **rows,
	     size_t *count, struct error *err)
{
	struct array array = { NULL, 0, 0, kind->row_size };
	const struct csv_sink sink = { kind, array_add, &array };
	struct csv_found found;
	int rc;

	rc = csv_scan(path, &sink, 1, &found, err);
	if (rc == 0 && found.torn_line)
		rc = error_set(err, ERROR_INPUT, "%s:%ld: the last line has no "
			       "line end: add one if the row is complete, else "
			       "remove the line", path, found.torn_line);
	else if (rc == 0 && found.rows == 0)
		rc = error_set(err, ERROR_INPUT, "%s:2:1: no rows after the "
			       "header: expected at least one row", path);
	if (rc) {
		free(array.rows);
		return -1;
	}
	*rows = array.rows;
	*count = array.count;
	return 0;
}
