/* One IDX file: right ones are read, everything else is refused in words. */
#include "bench/data/idx.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/cmocka.h"
#include "tests/unit/idx_files.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif

#define COUNT 3
#define SIZE (16 + COUNT * 784)

static const struct idx_form images = { .side_count = 2, .sides = { 28, 28 } };
static const struct idx_form labels = { .limit = 10 };

static void assert_read(const char *path, const uint8_t *bytes, size_t size)
{
	struct error err = { .message = "" };
	struct idx_form scan = images;
	char sha256[HASH_SHA256_SIZE];
	struct idx idx;

	hash_sha256(bytes, size, NULL, 0, sha256);
	scan.is_scan = 1;
	if (idx_read(path, &scan, &idx, &err))
		fail_msg("%s", err.message);
	assert_int_equal(idx.count, COUNT);
	assert_string_equal(idx.sha256, sha256);
	assert_null(idx.items);
	idx_release(&idx);
	if (idx_read(path, &images, &idx, &err))
		fail_msg("%s", err.message);
	assert_int_equal(idx.count, COUNT);
	assert_string_equal(idx.sha256, sha256);
	assert_int_equal(idx.header_size + idx.size, size);
	assert_memory_equal(idx.header, bytes, idx.header_size);
	assert_memory_equal(idx.items, bytes + idx.header_size, idx.size);
	idx_release(&idx);
	assert_null(idx.items);
}

/* Refused as input, with the file and words in the message; a scan agrees. */
static void assert_refused(const char *path, const struct idx_form *form,
			   const char *words)
{
	struct error err = { .message = "" }, again = { .message = "" };
	struct idx_form scan = *form;
	struct idx idx;

	if (!idx_read(path, form, &idx, &err))
		fail_msg("%s was read, expected: %s", path, words);
	scan.is_scan = 1;
	assert_int_equal(idx_read(path, &scan, &idx, &again), -1);
	assert_string_equal(again.message, err.message);
	assert_int_equal(err.kind, ERROR_INPUT);
	assert_null(idx.items);
	if (!strstr(err.message, path) || !strstr(err.message, words))
		fail_msg("'%s' lacks '%s'", err.message, words);
}

static void reads_plain_and_gz(void **state)
{
	uint8_t bytes[SIZE];
	size_t size = make_images(bytes, COUNT);
	const char *plain = in_folder("plain"), *gz = in_folder("packed.gz");
	const char *link = in_folder("link"), *halves = in_folder("halves");

	(void)state;
	write_file(plain, bytes, size);
	write_gz(gz, "wb", bytes, size);
	write_gz(halves, "wb", bytes, 100);
	write_gz(halves, "ab", bytes + 100, size - 100);
	assert_int_equal(symlink(gz, link), 0);
	assert_read(plain, bytes, size);
	assert_read(gz, bytes, size);
	assert_read(link, bytes, size);
	assert_read(halves, bytes, size);
}

static void cuts_are_refused(void **state)
{
	uint8_t bytes[SIZE], packed[2 * SIZE];
	size_t size = make_images(bytes, COUNT), packed_size;
	const char *path = in_folder("cut");

	(void)state;
	write_gz(path, "wb", bytes, size);
	packed_size = read_plain(path, packed, sizeof(packed));
	assert_true(packed_size > 1000 && packed_size < sizeof(packed));
	for (int gz = 0; gz < 2; gz++) {
		size_t whole = gz ? packed_size : size;
		const size_t cuts[] = { 0, 1, 2, 3, 4, 10, 15, 16, 17,
					whole - 9, whole - 8, whole - 1 };

		for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
			write_file(path, gz ? packed : bytes, cuts[i]);
			assert_refused(path, &images,
				       gz && cuts[i] > 15 ?
					       "compressed data ends too" :
					       "cut short");
		}
		write_file(path, gz ? packed : bytes, whole);
		assert_read(path, bytes, size);
	}
}

static void wrong_fields_are_named(void **state)
{
	static const struct {
		int offset;
		uint8_t value;
		const char *words;
	} wrong[] = {
		{ 0, 1, "bytes 0 and 1 should be 00 00, found 01 00" },
		{ 1, 0x8b, "found 00 8b" },
		{ 2, 9, "byte 2: type 8 (unsigned byte) expected, found 9" },
		{ 3, 1, "byte 3: 3 dimensions expected, found 1" },
		{ 3, 255, "byte 3: 3 dimensions expected, found 255" },
		{ 7, 0, "byte 4: a count from 1 to 1000000 expected, found 0" },
		{ 4, 0x80, "found 2147483651" },
		{ 7, COUNT + 1, "cut short" },
		{ 7, COUNT - 1, "longer than the 1584 bytes" },
		{ 11, 27, "byte 8: size 28 expected, found 27" },
		{ 15, 0, "byte 12: size 28 expected, found 0" },
		{ 12, 0xff, "byte 12: size 28 expected, found 4278190108" },
	};
	const char *path = in_folder("wrong");

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint8_t bytes[SIZE];
		size_t size = make_images(bytes, COUNT);

		bytes[wrong[i].offset] = wrong[i].value;
		write_file(path, bytes, size);
		assert_refused(path, &images, wrong[i].words);
		write_gz(path, "wb", bytes, size);
		assert_refused(path, &images, wrong[i].words);
	}
}

static void labels_are_below_ten(void **state)
{
	uint8_t bytes[64];
	size_t size = make_labels(bytes, 20);
	const char *path = in_folder("labels");
	struct error err = { .message = "" };
	struct idx idx;

	(void)state;
	write_file(path, bytes, size);
	assert_int_equal(idx_read(path, &labels, &idx, &err), 0);
	assert_int_equal(idx.count, 20);
	assert_int_equal(idx.items[19], 9);
	idx_release(&idx);
	assert_refused(path, &images, "3 dimensions expected, found 1");
	bytes[8 + 13] = 10;
	write_file(path, bytes, size);
	assert_refused(path, &labels,
		       "byte 21: a value from 0 to 9 expected, found 10");
}

/* What asks for much more memory than bytes from now on gets none. */
static void limit_memory(rlim_t bytes)
{
#ifdef SANITIZED
	(void)bytes;
#else
	struct rlimit limit;
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = bytes == RLIM_INFINITY ?
				 limit.rlim_max :
				 pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
#endif
}

static void sizes_are_not_believed(void **state)
{
	static const uint32_t counts[] = { 0xffffffff, 0x80000000, 1000001,
					   1000000, 500000 };
	uint8_t bytes[SIZE];
	size_t size = make_images(bytes, COUNT);
	const char *path = in_folder("huge");

	(void)state;
	limit_memory(32 << 20);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		put32(bytes + 4, counts[i]);
		write_file(path, bytes, size);
		assert_refused(path, &images,
			       counts[i] > 1000000 ? "byte 4" : "cannot hold");
		write_gz(path, "wb", bytes, size);
		assert_refused(path, &images,
			       counts[i] > 1000000 ? "byte 4" : "cannot hold");
	}
	limit_memory(RLIM_INFINITY);
}

/* Whole files, though too large for the memory that there is. */
static void other_counts_take_no_memory(void **state)
{
	enum { MANY = 100000, MEGABYTE = 1 << 20 };
	const struct idx_form few = { .side_count = 2, .sides = { 28, 28 },
				      .count = COUNT, .like = "labels" };
	uint8_t bytes[SIZE];
	uint8_t *zeros = calloc(1, MEGABYTE);
	const char *path = in_folder("many.gz");
	gzFile file = gzopen(path, "wb1");

	(void)state;
	assert_non_null(zeros);
	make_images(bytes, COUNT);
	put32(bytes + 4, MANY);
	assert_int_equal(gzwrite(file, bytes, 16), 16);
	for (int i = 0; i < MANY * 784; i += MEGABYTE)
		gzwrite(file, zeros, MEGABYTE);
	assert_int_equal(gzclose(file), 0);
	free(zeros);
	limit_memory(16 << 20);
	assert_refused(path, &few,
		       "byte 4: a count of 3 expected as in labels, found "
		       "100000");
	limit_memory(RLIM_INFINITY);
	make_images(bytes, COUNT);
	write_file(path, bytes, SIZE);
	assert_read(path, bytes, SIZE);
}

/* A hundred kilobytes that would become as many megabytes. */
static void bomb_is_stopped(void **state)
{
	enum { MEGABYTE = 1 << 20 };
	uint8_t bytes[SIZE];
	uint8_t *zeros = calloc(1, MEGABYTE);
	size_t size = make_images(bytes, COUNT);
	const char *path = in_folder("bomb.gz");
	gzFile file = gzopen(path, "wb1");

	(void)state;
	assert_non_null(zeros);
	assert_int_equal(gzwrite(file, bytes, (unsigned int)size), size);
	for (int i = 0; i < 100; i++)
		assert_int_equal(gzwrite(file, zeros, MEGABYTE), MEGABYTE);
	assert_int_equal(gzclose(file), 0);
	free(zeros);
	limit_memory(8 << 20);
	assert_refused(path, &images, "longer than the 2368 bytes");
	limit_memory(RLIM_INFINITY);
}

static void what_follows(void **state)
{
	uint8_t bytes[SIZE], packed[2 * SIZE];
	size_t size = make_images(bytes, COUNT), packed_size;
	const char *path = in_folder("more");

	(void)state;
	write_gz(path, "wb", bytes, size);
	packed_size = read_plain(path, packed, sizeof(packed) - 5);
	memcpy(packed + packed_size, "junk!", 5);
	write_file(path, packed, packed_size + 5);
	assert_read(path, bytes, size);

	write_gz(path, "wb", bytes, size);
	write_gz(path, "ab", bytes, 1);
	assert_refused(path, &images, "longer than the 2368 bytes");

	memcpy(packed, bytes, size);
	packed[size] = 0;
	write_file(path, packed, size + 1);
	assert_refused(path, &images, "longer than the 2368 bytes");
}

/* gz: the checksum of the stream leaves no change unseen. */
static void mutate(const uint8_t *original, const uint8_t *file, size_t size,
		   int is_gz)
{
	const char *path = in_folder("mutated");
	uint8_t bytes[2 * SIZE];
	uint32_t random = 2024;
	int reads = 0;

	for (int i = 0; i < 500; i++) {
		struct error err = { .message = "" };
		size_t at, differences = 0;
		struct idx idx;

		random = random * 1664525 + 1013904223;
		at = (random >> 8) % size;
		random = random * 1664525 + 1013904223;
		memcpy(bytes, file, size);
		bytes[at] ^= (uint8_t)(1 + (random >> 8) % 255);
		write_file(path, bytes, size);
		if (idx_read(path, &images, &idx, &err)) {
			assert_int_equal(err.kind, ERROR_INPUT);
			assert_non_null(strstr(err.message, path));
			continue;
		}
		reads++;
		for (size_t k = 0; k < idx.size; k++)
			differences += idx.items[k] != original[16 + k];
		assert_int_equal(differences, is_gz ? 0 : 1);
		idx_release(&idx);
	}
	assert_true(is_gz ? reads < 20 : reads > 400);
}

static void mutations_never_crash(void **state)
{
	uint8_t bytes[SIZE], packed[2 * SIZE];
	size_t size = make_images(bytes, COUNT);
	const char *path = in_folder("mutated");

	(void)state;
	mutate(bytes, bytes, size, 0);
	write_gz(path, "wb", bytes, size);
	mutate(bytes, packed, read_plain(path, packed, sizeof(packed)), 1);
}

static void only_regular_files(void **state)
{
	const char *path = in_folder("special");

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(path, &images, "a FIFO");
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_refused(path, &images, "a directory");
	rmdir(path);
	assert_refused(path, &images, "No such file");
	assert_int_equal(symlink("special", path), 0);
	assert_refused(path, &images, "cannot be opened");
	unlink(path);
	assert_refused("/dev/null", &images, "a device");
	if (!geteuid())
		return;
	write_file(path, "", 0);
	chmod(path, 0);
	assert_refused(path, &images, "Permission denied");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_plain_and_gz),
		cmocka_unit_test(cuts_are_refused),
		cmocka_unit_test(wrong_fields_are_named),
		cmocka_unit_test(labels_are_below_ten),
		cmocka_unit_test(sizes_are_not_believed),
		cmocka_unit_test(other_counts_take_no_memory),
		cmocka_unit_test(bomb_is_stopped),
		cmocka_unit_test(what_follows),
		cmocka_unit_test(mutations_never_crash),
		cmocka_unit_test(only_regular_files),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
