#include "bench/data/idx.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#define TYPE_BYTE 8
#define PIECE (1u << 20)	/* bytes asked of zlib at once */
#define MAX_FILE (1L << 30)	/* bytes on disk; bounds the time */
#define DEFLATE_MOST 1032	/* bytes that one compressed byte can make */

struct source {
	const char *name;
	gzFile file;
	size_t most; /* bytes that can come, an upper bound */
};

static int source_failed(struct source *source, struct error *err)
{
	int code = Z_OK;
	int number = errno;
	const char *words = gzerror(source->file, &code);
	const char *colon = strstr(words, ": ");

	switch (code) {
	case Z_MEM_ERROR:
		return error_memory(err, source->name);
	case Z_ERRNO:
		return error_set(err, ERROR_INPUT, "%s: cannot be read: %s",
				 source->name, strerror(number));
	case Z_BUF_ERROR:
		return error_set(err, ERROR_INPUT,
				 "%s: cut short: its compressed data ends too "
				 "early", source->name);
	default:
		return error_set(err, ERROR_INPUT,
				 "%s: its compressed data is damaged (%s)",
				 source->name, colon ? colon + 2 : words);
	}
}

/* Fewer than count bytes come only at the end. */
static int source_read(struct source *source, uint8_t *to, size_t count,
		       size_t *got, struct error *err)
{
	int code = Z_OK;

	*got = 0;
	while (*got < count) {
		size_t left = count - *got;
		int n = gzread(source->file, to + *got,
			       left < PIECE ? (unsigned int)left : PIECE);

		if (n < 0)
			return source_failed(source, err);
		if (n == 0)
			break;
		*got += (size_t)n;
	}
	if (*got < count) {
		gzerror(source->file, &code);
		if (code != Z_OK)
			return source_failed(source, err);
	}
	return 0;
}

static uint32_t big_endian(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
	       (uint32_t)bytes[2] << 8 | bytes[3];
}

static int check_magic(const char *name, const uint8_t *header, int dimensions,
		       struct error *err)
{
	if (header[0] || header[1])
		return error_set(err, ERROR_INPUT,
				 "%s: not an IDX file: bytes 0 and 1 should be "
				 "00 00, found %02x %02x",
				 name, header[0], header[1]);
	if (header[2] != TYPE_BYTE)
		return error_set(err, ERROR_INPUT,
				 "%s: byte 2: type %d (unsigned byte) "
				 "expected, found %d",
				 name, TYPE_BYTE, header[2]);
	if (header[3] != dimensions)
		return error_set(err, ERROR_INPUT,
				 "%s: byte 3: %d dimension%s expected, "
				 "found %d",
				 name, dimensions, dimensions == 1 ? "" : "s",
				 header[3]);
	return 0;
}

/* Fills count and size. */
static int check_header(const char *name, const struct idx_form *form,
			struct idx *idx, struct error *err)
{
	const uint8_t *header = idx->header;
	uint32_t count = big_endian(header + 4);

	if (check_magic(name, header, 1 + form->side_count, err))
		return -1;
	if (count < 1 || count > IDX_MAX_COUNT)
		return error_set(err, ERROR_INPUT,
				 "%s: byte 4: a count from 1 to %d expected, "
				 "found %u", name, IDX_MAX_COUNT, count);
	if (form->count && count != (uint32_t)form->count)
		return error_set(err, ERROR_INPUT,
				 "%.400s: byte 4: a count of %d expected%s"
				 "%.400s, found %u", name, form->count,
				 form->like ? " as in " : "",
				 form->like ? form->like : "", count);
	idx->count = (int)count;
	idx->size = count;
	for (int i = 0; i < form->side_count; i++) {
		size_t offset = 8 + 4 * (size_t)i;
		uint32_t side = big_endian(header + offset);

		if (form->sides[i] < 1 || side != (uint32_t)form->sides[i])
			return error_set(err, ERROR_INPUT,
					 "%s: byte %zu: size %d expected, "
					 "found %u", name, offset,
					 form->sides[i], side);
		if (idx->size > SIZE_MAX / 2 / side)
			return error_set(err, ERROR_INPUT,
					 "%s: byte %zu: too large", name,
					 offset);
		idx->size *= side;
	}
	return 0;
}

/* The first of count bytes that is not below limit (0: none is), or count. */
static size_t find_beyond(const uint8_t *bytes, size_t count, int limit)
{
	size_t at = limit ? 0 : count;

	while (at < count && bytes[at] < limit)
		at++;
	return at;
}

/* All of it was read by then: a file that is damaged is called so first. */
static int refuse_item(const char *name, const struct idx *idx, size_t at,
		       int limit, int item, struct error *err)
{
	return error_set(err, ERROR_INPUT, "%s: byte %zu: a value from 0 to %d "
			 "expected, found %d", name, idx->header_size + at,
			 limit - 1, item);
}

static int read_header(struct source *source, const struct idx_form *form,
		       struct idx *idx, struct error *err)
{
	size_t got;

	idx->header_size = 4 * (2 + (size_t)form->side_count);
	if (source_read(source, idx->header, idx->header_size, &got, err))
		return -1;
	if (got < idx->header_size)
		return error_set(err, ERROR_INPUT,
				 "%s: cut short: a header of %zu bytes "
				 "expected, the data ends after %zu",
				 source->name, idx->header_size, got);
	if (check_header(source->name, form, idx, err))
		return -1;
	if (idx->size > source->most)
		return error_set(err, ERROR_INPUT,
				 "%s: cut short: its header announces %zu "
				 "bytes, which a file of this length cannot "
				 "hold",
				 source->name, idx->header_size + idx->size);
	return 0;
}

static int refuse_end(const struct source *source, const struct idx *idx,
		      size_t got, struct error *err)
{
	return error_set(err, ERROR_INPUT,
			 "%s: cut short: its header announces %zu bytes, the "
			 "data ends after %zu", source->name,
			 idx->header_size + idx->size, idx->header_size + got);
}

/* A wrong checksum or a cut trailer shows only when more is asked for. */
static int check_end(struct source *source, const struct idx *idx,
		     struct error *err)
{
	uint8_t more;
	size_t got;

	if (source_read(source, &more, 1, &got, err))
		return -1;
	if (got)
		return error_set(err, ERROR_INPUT,
				 "%s: longer than the %zu bytes that its "
				 "header announces", source->name,
				 idx->header_size + idx->size);
	return 0;
}

/* Reads in pieces: into items, or in a scan all into piece. */
static int read_pieces(struct source *source, const struct idx_form *form,
		       struct idx *idx, uint8_t *piece, struct error *err)
{
	struct hash_pieces hash;
	size_t bad = idx->size, got;
	int item = 0;

	hash_pieces_begin(&hash);
	hash_pieces_add(&hash, idx->header, idx->header_size);
	for (size_t at = 0; at < idx->size; at += got) {
		const size_t left = idx->size - at;
		const size_t count = left < PIECE ? left : PIECE;
		uint8_t *to = piece ? piece : idx->items + at;
		size_t found;

		if (source_read(source, to, count, &got, err))
			return -1;
		if (got < count)
			return refuse_end(source, idx, at + got, err);
		hash_pieces_add(&hash, to, count);
		found = find_beyond(to, count, form->limit);
		if (found < count && bad == idx->size) {
			bad = at + found;
			item = to[found];
		}
	}
	hash_pieces_end(&hash, idx->sha256);
	if (check_end(source, idx, err))
		return -1;
	return bad == idx->size ? 0 : refuse_item(source->name, idx, bad,
						  form->limit, item, err);
}

static int read_items(struct source *source, const struct idx_form *form,
		      struct idx *idx, struct error *err)
{
	uint8_t *bytes = malloc(form->is_scan && idx->size > PIECE ?
					PIECE : idx->size);
	int failed;

	if (!bytes)
		return error_memory(err, source->name);
	if (!form->is_scan)
		idx->items = bytes;
	failed = read_pieces(source, form, idx, form->is_scan ? bytes : NULL,
			     err);
	if (form->is_scan)
		free(bytes);
	return failed;
}

static int read_source(struct source *source, const struct idx_form *form,
		       struct idx *idx, struct error *err)
{
	if (read_header(source, form, idx, err) ||
	    read_items(source, form, idx, err)) {
		idx_release(idx);
		return -1;
	}
	return 0;
}

/* Returns -1 unless fd is a regular file of a length that can be read. */
static int check_regular(int fd, const char *name, size_t *size,
			 struct error *err)
{
	struct stat about;

	if (fstat(fd, &about))
		return error_set(err, ERROR_INPUT, "%s: %s", name,
				 strerror(errno));
	if (!S_ISREG(about.st_mode))
		return error_set(err, ERROR_INPUT,
				 "%s: a regular file expected, this is %s",
				 name,
				 S_ISDIR(about.st_mode) ? "a directory" :
				 S_ISFIFO(about.st_mode) ? "a FIFO" :
							   "a device");
	if (about.st_size > MAX_FILE)
		return error_set(err, ERROR_INPUT,
				 "%s: at most %ld bytes expected, found %lld",
				 name, MAX_FILE, (long long)about.st_size);
	*size = (size_t)about.st_size;
	return 0;
}

int idx_read_open(int fd, const char *name, const struct idx_form *form,
		  struct idx *idx, struct error *err)
{
	struct source source = { .name = name };
	int status;

	memset(idx, 0, sizeof(*idx));
	if (check_regular(fd, name, &source.most, err)) {
		close(fd);
		return -1;
	}
	source.file = gzdopen(fd, "rb");
	if (!source.file) {
		close(fd);
		return error_memory(err, name);
	}
	if (!gzdirect(source.file))
		source.most *= DEFLATE_MOST;
	status = read_source(&source, form, idx, err);
	if (gzclose(source.file) != Z_OK && !status) {
		idx_release(idx);
		return error_set(err, ERROR_INPUT,
				 "%s: cut short, or could not be closed", name);
	}
	return status;
}

/* Does not wait for the writer of a FIFO. */
int idx_read(const char *path, const struct idx_form *form, struct idx *idx,
	     struct error *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	memset(idx, 0, sizeof(*idx));
	if (fd < 0)
		return error_set(err, ERROR_INPUT, "%s: cannot be opened: %s",
				 path, strerror(errno));
	return idx_read_open(fd, path, form, idx, err);
}

void idx_release(struct idx *idx)
{
	free(idx->items);
	memset(idx, 0, sizeof(*idx));
}
