/* Hashes against published values. */
#include "bench/system/hash.h"

#include <unistd.h>

#include "tests/cmocka.h"

/* FIPS 180-4's example "abc", and the empty message. */
static void sha256_is_right(void **state)
{
	static const char abc[] =
		"ba7816bf8f01cfea414140de5dae2223"
		"b00361a396177a9cb410ff61f20015ad";
	static const char none[] =
		"e3b0c44298fc1c149afbf4c8996fb924"
		"27ae41e4649b934ca495991b7852b855";
	char hex[HASH_SHA256_SIZE];

	(void)state;
	hash_sha256("abc", 3, NULL, 0, hex);
	assert_string_equal(hex, abc);
	hash_sha256("a", 1, "bc", 2, hex);
	assert_string_equal(hex, abc);
	hash_sha256(NULL, 0, NULL, 0, hex);
	assert_string_equal(hex, none);
}

/* What a file holds, in however many pieces it is read. */
static void sha256_of_a_file(void **state)
{
	enum { SIZE = 200001 };
	static char bytes[SIZE];
	char path[] = "/tmp/test_hash.XXXXXX", hex[HASH_SHA256_SIZE];
	char expected[HASH_SHA256_SIZE];
	const int fd = mkstemp(path);
	FILE *out = fdopen(fd, "wb");

	(void)state;
	assert_non_null(out);
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (char)(i % 251);
	assert_int_equal(fwrite(bytes, 1, SIZE, out), SIZE);
	assert_int_equal(fclose(out), 0);
	hash_sha256(bytes, SIZE, NULL, 0, expected);
	assert_int_equal(hash_sha256_file(path, hex), 0);
	assert_string_equal(hex, expected);
	unlink(path);
	assert_int_equal(hash_sha256_file(path, hex), -1);
	assert_string_equal(hex, "");
	assert_int_equal(hash_sha256_file("/", hex), -1);
}

/* The reference vectors of FNV-1a, 64 bits. */
static void bytes64_is_fnv1a(void **state)
{
	(void)state;
	assert_true(hash_bytes64("", 0) == 0xcbf29ce484222325u);
	assert_true(hash_bytes64("a", 1) == 0xaf63dc4c8601ec8cu);
	assert_true(hash_bytes64("foobar", 6) == 0x85944171f73967e8u);
	assert_true(hash_bytes64("\xff", 1) != hash_bytes64("\x7f", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_is_right),
		cmocka_unit_test(sha256_of_a_file),
		cmocka_unit_test(bytes64_is_fnv1a),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
