/*
 * Reads an IDX file, plain or gzipped. Only idx.c includes zlib.
 *
 * All numbers are big endian. A file has two zero bytes, the type of an item
 * (8: unsigned byte), the number of dimensions and one 32-bit size for each.
 * Then come the items, with the last dimension running fastest.
 *
 * Files are not trusted. Nothing is allocated before the header is found to be
 * the expected one; a scan takes little memory for any file. Not more is read
 * than the header announces. A shorter or longer file is refused. Bytes after a
 * complete gzip stream are ignored, as gzip does: the stream has its own
 * checksum.
 */
#ifndef BENCH_DATA_IDX_H
#define BENCH_DATA_IDX_H

#include <stddef.h>
#include <stdint.h>

#include "backends/contract/error.h"
#include "bench/system/hash.h"

#define IDX_MAX_COUNT 1000000
#define IDX_MAX_SIDES 2
#define IDX_MAX_HEADER (4 * (2 + IDX_MAX_SIDES))

/* The expected content of a file. */
struct idx_form {
	int side_count;		  /* dimensions after the first */
	int sides[IDX_MAX_SIDES]; /* their sizes: 28 rows, 28 columns */
	int limit;		  /* items are below this; 0 = any byte */
	int count;		  /* size of the first dimension; 0 = any */
	const char *like;	  /* the file with that count, or NULL */
	int is_scan; /* 1: check and hash items, keep none */
};

struct idx {
	int count;	 /* size of the first dimension, at least 1 */
	size_t size;	 /* bytes of items */
	uint8_t *items; /* NULL after a scan */
	char sha256[HASH_SHA256_SIZE]; /* of the uncompressed content */
	size_t header_size;
	uint8_t header[IDX_MAX_HEADER]; /* as in the file */
};

/*
 * Reads the file at path; the caller releases idx. Fails with ERROR_INPUT,
 * which names the file, the place, and what was expected and found. Does not
 * block: anything but a regular file is refused.
 */
int idx_read(const char *path, const struct idx_form *form, struct idx *idx,
	     struct error *err);

/* Reads and closes a descriptor; name is for messages. */
int idx_read_open(int fd, const char *name, const struct idx_form *form,
		  struct idx *idx, struct error *err);

void idx_release(struct idx *idx); /* all zero is allowed */

#endif
