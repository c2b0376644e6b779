#include "bench/system/hash.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <nettle/sha2.h>

_Static_assert(sizeof(struct sha256_ctx) <=
	       sizeof(((struct hash_pieces *)0)->state), "nettle's state fits");

static void print_digest(struct sha256_ctx *context, char hex[HASH_SHA256_SIZE])
{
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_digest(context, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

void hash_pieces_begin(struct hash_pieces *pieces)
{
	struct sha256_ctx context;

	sha256_init(&context);
	memcpy(pieces->state, &context, sizeof(context));
}

void hash_pieces_add(struct hash_pieces *pieces, const void *bytes,
		     size_t count)
{
	struct sha256_ctx context;

	memcpy(&context, pieces->state, sizeof(context));
	sha256_update(&context, count, bytes);
	memcpy(pieces->state, &context, sizeof(context));
}

void hash_pieces_end(struct hash_pieces *pieces, char hex[HASH_SHA256_SIZE])
{
	struct sha256_ctx context;

	memcpy(&context, pieces->state, sizeof(context));
	print_digest(&context, hex);
}

void hash_sha256(const void *head, size_t head_bytes, const void *body,
		 size_t body_bytes, char hex[HASH_SHA256_SIZE])
{
	struct sha256_ctx context;

	sha256_init(&context);
	if (head_bytes)
		sha256_update(&context, head_bytes, head);
	if (body_bytes)
		sha256_update(&context, body_bytes, body);
	print_digest(&context, hex);
}

int hash_sha256_file(const char *path, char hex[HASH_SHA256_SIZE])
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct sha256_ctx context;
	uint8_t bytes[32768];
	ssize_t count;

	hex[0] = '\0';
	if (fd < 0)
		return -1;
	sha256_init(&context);
	while ((count = read(fd, bytes, sizeof(bytes))) > 0)
		sha256_update(&context, (size_t)count, bytes);
	close(fd);
	if (count < 0)
		return -1;
	print_digest(&context, hex);
	return 0;
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
