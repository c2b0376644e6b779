/*
 * Results: observations and runs. The first byte chooses the kind of row and
 * the pieces in which the rest arrives. Rows that were read are written, and
 * must be equal when they are read again; then the whole is read as a file and
 * its tables are made, whatever numbers there are.
 */
#include "bench/record/csv.h"

#include <locale.h>

#include "bench/record/campaign.h"
#include "bench/report/export.h"
#include "bench/commands/commands.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_corpus[] = "csv";

enum { PIECE = 127, MOST_ROWS = 64 };

/* The rows of one reading, written. */
struct copy {
	const struct row_kind *kind;
	char *text;
	size_t size;
	FILE *out;
	int rows;
	long torn;
	struct error err;
	int failed;
};

static int write_row(const void *row, void *context, struct error *err)
{
	struct copy *copy = context;

	(void)err;
	copy->rows++;
	csv_write_row(copy->out, copy->kind, row);
	return 0;
}

static void read_rows(struct copy *copy, const struct row_kind *kind,
		      const char *bytes, size_t count, size_t piece)
{
	struct csv_reader *reader;
	size_t at, size;

	*copy = (struct copy){ .kind = kind };
	copy->out = open_memstream(&copy->text, &copy->size);
	MUST(copy->out);
	csv_write_header(copy->out, kind);
	reader = csv_reader_open(kind, "name", write_row, copy, &copy->err);
	MUST(reader);
	for (at = 0; at < count && !copy->failed; at += size) {
		size = count - at < piece ? count - at : piece;
		copy->failed = csv_reader_feed(reader, bytes + at, size,
					       &copy->err);
	}
	if (!copy->failed)
		copy->failed = csv_reader_end(reader, &copy->err);
	copy->torn = csv_reader_torn(reader);
	csv_reader_close(reader);
	MUST(fclose(copy->out) == 0);
	if (!copy->failed)
		return;
	must_be_told(&copy->err, ERROR_INPUT);
	MUST(!strncmp(copy->err.message, "name:", 5));
	MUST(!copy->torn);
}

/* In pieces as in one; what was written reads as what was read. */
static void go_round(const struct row_kind *kind, const char *bytes,
		     size_t count, size_t piece)
{
	struct copy whole, pieces, again;

	read_rows(&whole, kind, bytes, count, count + 1);
	read_rows(&pieces, kind, bytes, count, piece);
	MUST(whole.failed == pieces.failed && whole.rows == pieces.rows);
	MUST(whole.torn == pieces.torn);
	MUST(!whole.failed || !strcmp(whole.err.message, pieces.err.message));
	MUST(!strcmp(whole.text, pieces.text));
	read_rows(&again, kind, whole.text, whole.size, count + 1);
	MUST(!again.failed && !again.torn && again.rows == whole.rows);
	MUST(!strcmp(again.text, whole.text));
	free(whole.text);
	free(pieces.text);
	free(again.text);
}

/* As bench table does, the tables and exports into memory. */
static void make_tables(const char *path, int mode)
{
	static const char *const formats[] = { "plain", "github", "post" };
	const char *paths[] = { path };
	struct options options = {
		.arguments = paths,
		.argument_count = 1,
		.format = formats[mode % 3],
		.with_post = mode & 4,
		.include_warmup = mode & 8,
		.color = mode & 32 ? "always" : "never",
	};
	struct error err = { .message = "" };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	FILE *log = fopen("/dev/null", "w");

	MUST(out && log);
	setlocale(LC_CTYPE, mode & 16 ? "C.UTF-8" : "C");
	if ((mode & 66) == 64)
		*(mode & 1 ? &options.export_csv : &options.export_json) = "-";
	options.cores = (mode & 66) == 66;
	if (table_command(&options, out, log, &err)) {
		must_be_told(&err, ERROR_INPUT);
		/* A message about cores may name no file. */
		MUST(options.cores ||
		     !strncmp(err.message, path, strlen(path)));
	}
	fclose(log);
	MUST(fclose(out) == 0);
	/* Text from a file steers no terminal. */
	MUST(mode & 32 || !memchr(text, '\033', size));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes;
	char path[32];
	int mode, fd;

	if (size < 2)
		return -1;
	mode = *data++;
	size--;
	bytes = (const char *)data;
	go_round(mode & 128 ? &run_rows : &observation_rows, bytes, size,
		 1 + (size_t)(mode % PIECE));
	fd = memory_file(bytes, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	make_tables(path, mode);
	close(fd);
	return 0;
}
