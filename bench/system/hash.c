#include "bench/system/hash.h"

#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include <sha256.h>

static void end_sha256(SHA256_CTX *context, char hex[HASH_SHA256_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t digest[SHA256_DIGEST_LENGTH];

	SHA256_Final(digest, context);
	for (size_t i = 0; i < sizeof(digest); i++) {
		hex[2 * i] = digits[digest[i] >> 4];
		hex[2 * i + 1] = digits[digest[i] & 15];
	}
	hex[2 * sizeof(digest)] = '\0';
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
	end_sha256(&context, hex);
}

int hash_sha256_file(const char *path, char hex[HASH_SHA256_SIZE])
{
	FILE *in = fopen(path, "rbe");
	uint8_t bytes[16384];
	SHA256_CTX context;
	size_t count;
	int failed;

	hex[0] = '\0';
	if (!in)
		return -1;
	SHA256_Init(&context);
	while ((count = fread(bytes, 1, sizeof(bytes), in)))
		SHA256_Update(&context, bytes, count);
	failed = ferror(in);
	fclose(in);
	if (failed)
		return -1;
	end_sha256(&context, hex);
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
