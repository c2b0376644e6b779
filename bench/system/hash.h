/* Hashes of bytes and files. Only hash.c includes nettle. */
#ifndef BENCH_SYSTEM_HASH_H
#define BENCH_SYSTEM_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_SHA256_SIZE 65 /* 64 hexadecimal digits and the terminator */

/* Writes the SHA-256 of head followed by body in lower case hexadecimal
 * digits. */
void hash_sha256(const void *head, size_t head_bytes, const void *body,
		 size_t body_bytes, char hex[HASH_SHA256_SIZE]);

/* The same hash over several pieces. Only hash.c uses state. */
struct hash_pieces {
	uint8_t state[256];
};

void hash_pieces_begin(struct hash_pieces *pieces);
void hash_pieces_add(struct hash_pieces *pieces, const void *bytes,
		     size_t count);
void hash_pieces_end(struct hash_pieces *pieces, char hex[HASH_SHA256_SIZE]);

/* Hashes a file in pieces. Returns -1, and an empty hex, if it cannot be
 * read. */
int hash_sha256_file(const char *path, char hex[HASH_SHA256_SIZE]);

/*
 * Returns a hash that shows whether two vectors have the same bits. It is
 * 64-bit FNV-1a (Fowler, Noll and Vo) over words of 8 bytes, high half folded
 * down, and over the remaining bytes. It is not safe against deliberate
 * collisions.
 */
uint64_t hash_bytes64(const void *bytes, size_t count);

#endif
