/* Hashes of bytes and files. Only hash.c includes nettle. */
#ifndef BENCH_SYSTEM_HASH_H
#define BENCH_SYSTEM_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_SHA256_SIZE 65 /* 64 hexadecimal digits and the end */

/* SHA-256 of head followed by body, in lower case hexadecimal digits. */
void hash_sha256(const void *head, size_t head_bytes, const void *body,
		 size_t body_bytes, char hex[HASH_SHA256_SIZE]);

/* The same of bytes that come in pieces; state is the business of hash.c. */
struct hash_pieces {
	uint8_t state[256];
};

void hash_pieces_begin(struct hash_pieces *pieces);
void hash_pieces_add(struct hash_pieces *pieces, const void *bytes,
		     size_t count);
void hash_pieces_end(struct hash_pieces *pieces, char hex[HASH_SHA256_SIZE]);

/* Of the bytes of a file, as it is read, in little memory. -1, and no digits,
 * if it cannot be. */
int hash_sha256_file(const char *path, char hex[HASH_SHA256_SIZE]);

/*
 * To see that two vectors are the same bits: 64-bit FNV-1a (Fowler, Noll and
 * Vo) over words of 8 bytes, high half folded down, and the bytes left over.
 * Anybody can make two that collide.
 */
uint64_t hash_bytes64(const void *bytes, size_t count);

#endif
