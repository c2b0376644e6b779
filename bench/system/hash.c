#include "bench/system/hash.h"

#include <string.h>
#include <sys/types.h>

#include <sha256.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof(((struct hash_pieces *)0)->state),
	       "libmd's state fits");

void hash_pieces_begin(struct hash_pieces *pieces)
{
	SHA256_CTX context;

	SHA256_Init(&context);
	memcpy(pieces->state, &context, sizeof(context));
}

void hash_pieces_add(struct hash_pieces *pieces, const void *bytes,
		     size_t count)
{
	SHA256_CTX context;

	memcpy(&context, pieces->state, sizeof(context));
	SHA256_Update(&context, bytes, count);
	memcpy(pieces->state, &context, sizeof(context));
}

void hash_pieces_end(struct hash_pieces *pieces, char hex[HASH_SHA256_SIZE])
{
	SHA256_CTX context;

	memcpy(&context, pieces->state, sizeof(context));
	SHA256_End(&context, hex);
}

void hash_sha256(const void *head, size_t head_bytes, const void *body,
		 size_t body_bytes, char hex[HASH_SHA256_SIZE])
{
	SHA256_CTX context;

	SHA256_Init(&context);
	if (head_bytes)
		SHA256_Update(&context, head, head_bytes);
	if (body_bytes)
		SHA256_Update(&context, body, body_bytes);
	SHA256_End(&context, hex);
}

int hash_sha256_file(const char *path, char hex[HASH_SHA256_SIZE])
{
	hex[0] = '\0';
	return SHA256_File(path, hex) ? 0 : -1;
}

uint64_t hash_bytes64(const void *bytes, size_t count)
{
	const uint8_t *byte = bytes;
	uint64_t hash = 0xcbf29ce484222325u;

	for (; count >= sizeof(hash); count -= sizeof(hash)) {
		uint64_t word;

		memcpy(&word, byte, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3u;
		hash ^= hash >> 32;
		byte += sizeof(word);
	}
	for (size_t i = 0; i < count; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3u;
	return hash;
}
