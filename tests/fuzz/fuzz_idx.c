/*
 * IDX files. The first byte chooses what is expected of the file and whether
 * the rest is the file or is packed into one. What was read is written, and
 * must be equal when it is read again.
 */
#include "bench/data/idx.h"

#include <zlib.h>

#include "tests/fuzz/fuzz.h"

const char fuzz_corpus[] = "idx";

enum {
	FORM = 7,	/* bits that choose one of the forms */
	PACK = 8,	/* the rest becomes a gzip stream */
	HALVES = 16,	/* of two members */
	MOST = 1 << 16	/* bytes that are written again */
};

static const struct idx_form forms[FORM + 1] = {
	{ .side_count = 2, .sides = { 28, 28 } },
	{ .limit = 10 },
	{ .side_count = 2, .sides = { 2, 3 } },
	{ .side_count = 1, .sides = { 5 }, .limit = 128 },
	{ .count = 3, .limit = 10, .like = "labels" },
	{ .side_count = 2, .sides = { 1, 1 }, .count = 2 },
	{ .side_count = 2, .sides = { 28, 28 }, .count = 1, .like = "labels" },
	{ .limit = 1 },
};

static void pack(z_stream *stream, const uint8_t *bytes, size_t count)
{
	/* The rest of an input is not const to zlib, but it is not written. */
	stream->next_in = (Bytef *)(uintptr_t)bytes;
	stream->avail_in = (uInt)count;
	MUST(deflate(stream, Z_FINISH) == Z_STREAM_END);
}

/* As gzip does, in one member or two; the caller frees it. */
static uint8_t *make_gz(const uint8_t *bytes, size_t count, int halves,
			size_t *size)
{
	const size_t first = halves ? count / 2 : count;
	z_stream stream = { 0 };
	uint8_t *packed;

	MUST(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8,
			  Z_DEFAULT_STRATEGY) == Z_OK);
	*size = 2 * deflateBound(&stream, (uLong)count) + 64;
	packed = malloc(*size);
	MUST(packed);
	stream.next_out = packed;
	stream.avail_out = (uInt)*size;
	pack(&stream, bytes, first);
	if (halves) {
		uint8_t *next = stream.next_out;
		uInt room = stream.avail_out;

		MUST(deflateReset(&stream) == Z_OK);
		stream.next_out = next;
		stream.avail_out = room;
		pack(&stream, bytes + first, count - first);
	}
	*size -= stream.avail_out;
	deflateEnd(&stream);
	return packed;
}

/* Through the reader of files; returns whether it was read. */
static int read_file(const uint8_t *bytes, size_t count,
		     const struct idx_form *form, struct idx *idx)
{
	struct error err = { .message = "" };
	int fd = memory_file(bytes, count);
	int status = idx_read_open(fd, "name", form, idx, &err);

	MUST(close(fd) == -1); /* it is closed already */
	if (!status)
		return 1;
	must_be_told(&err, ERROR_INPUT);
	MUST(!strncmp(err.message, "name: ", 6));
	MUST(!idx->items);
	return 0;
}

static void must_be_same(const struct idx *left, const struct idx *right)
{
	MUST(left->count == right->count && left->size == right->size);
	MUST(left->header_size == right->header_size);
	MUST(!memcmp(left->header, right->header, left->header_size));
	MUST(!memcmp(left->items, right->items, left->size));
}

/* What was read is as was asked for. */
static void check(const struct idx *idx, const struct idx_form *form)
{
	size_t size = (size_t)idx->count;

	MUST(idx->count >= 1 && idx->count <= IDX_MAX_COUNT);
	MUST(!form->count || idx->count == form->count);
	for (int i = 0; i < form->side_count; i++)
		size *= (size_t)form->sides[i];
	MUST(idx->size == size);
	for (size_t i = 0; form->limit && i < size; i++)
		MUST(idx->items[i] < form->limit);
}

/* Written plain and packed it reads back equal; a byte less or more is refused.
 */
static void go_round(const struct idx *idx, const struct idx_form *form)
{
	size_t size = idx->header_size + idx->size, packed_size;
	uint8_t *file = malloc(size + 1), *packed;
	struct idx again;

	MUST(file);
	memcpy(file, idx->header, idx->header_size);
	memcpy(file + idx->header_size, idx->items, idx->size);
	file[size] = 0;
	MUST(read_file(file, size, form, &again));
	must_be_same(idx, &again);
	idx_release(&again);
	MUST(!read_file(file, size - 1, form, &again));
	MUST(!read_file(file, size + 1, form, &again));
	packed = make_gz(file, size, 1, &packed_size);
	MUST(read_file(packed, packed_size, form, &again));
	must_be_same(idx, &again);
	idx_release(&again);
	MUST(!read_file(packed, packed_size - 1, form, &again));
	free(packed);
	free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct idx_form *form;
	uint8_t *packed = NULL;
	struct idx idx, scanned;
	struct idx_form scan;
	int mode, is_read;

	if (size < 1 || size > MOST)
		return -1;
	mode = *data++;
	size--;
	form = &forms[mode & FORM];
	if (mode & PACK)
		data = packed = make_gz(data, size, mode & HALVES, &size);
	is_read = read_file(data, size, form, &idx);
	scan = *form;
	scan.is_scan = 1;
	MUST(read_file(data, size, &scan, &scanned) == is_read);
	MUST(!is_read || !strcmp(scanned.sha256, idx.sha256));
	if (is_read) {
		check(&idx, form);
		if (idx.size <= MOST)
			go_round(&idx, form);
	}
	idx_release(&idx);
	MUST(!idx.items);
	free(packed);
	return 0;
}
