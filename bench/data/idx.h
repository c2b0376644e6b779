/*
 * One IDX file, plain or gzipped: the only user of zlib.
 *
 * The format, all numbers big endian: two zero bytes, the type of an item (8:
 * unsigned byte), the number of dimensions, one 32-bit size for each, then the
 * items, the last dimension running fastest.
 *
 * Files are not trusted: nothing is allocated before the header is found to
 * be what was asked for (a scan takes little memory whatever there is), no more
 * is read than it announces, and a file that ends earlier or goes on is
 * refused. After the end of a complete gzip stream other bytes are ignored, as
 * gzip does: the stream has its own checksum.
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

/* What a file is expected to hold. */
struct idx_form {
	int side_count;		  /* dimensions after the first */
	int sides[IDX_MAX_SIDES]; /* their sizes: 28 rows, 28 columns */
	int limit;		  /* items are below; 0: any byte */
	int count;		  /* size of the first dimension; 0: any */
	const char *like;	  /* the file that has that count, or NULL */
	int is_scan; /* items are checked and hashed, not kept */
};

struct idx {
	int count;	 /* size of the first dimension, at least 1 */
	size_t size;	 /* of items, in bytes */
	uint8_t *items; /* NULL after a scan */
	char sha256[HASH_SHA256_SIZE]; /* of the file's bytes, not compressed */
	size_t header_size;
	uint8_t header[IDX_MAX_HEADER]; /* as in the file */
};

/*
 * Reads the file at path; the caller releases it. What cannot be read is
 * ERROR_INPUT and names the file, the place, what was expected and found.
 * Never waits: what is not a regular file is refused.
 */
int idx_read(const char *path, const struct idx_form *form, struct idx *idx,
	     struct error *err);

/* The same for a descriptor, which is closed; name is for messages. */
int idx_read_open(int fd, const char *name, const struct idx_form *form,
		  struct idx *idx, struct error *err);

void idx_release(struct idx *idx); /* all zero is fine */

#endif
