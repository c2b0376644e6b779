/*
 * Goes once through the committed inputs of a fuzz target, with any compiler.
 * Files named on the command line are tried instead: what a fuzzer found.
 */
#include <dirent.h>

#include "tests/cmocka.h"
#include "tests/fuzz/fuzz.h"

enum { MOST = 1 << 20, FEWEST = 10 };

static void replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = malloc(MOST);
	uint8_t *exact;
	size_t size;

	assert_non_null(file);
	assert_non_null(bytes);
	size = fread(bytes, 1, MOST, file);
	fclose(file);
	/* Its own allocation, so that sanitizers see its end. */
	exact = malloc(size ? size : 1);
	assert_non_null(exact);
	memcpy(exact, bytes, size);
	free(bytes);
	fprintf(stderr, "%s\n", path); /* the last one, after a crash */
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

static void committed_inputs(void **state)
{
	char folder[64], path[400];
	struct dirent *entry;
	int count = 0;
	DIR *dir;

	(void)state;
	snprintf(folder, sizeof(folder), "tests/fuzz/corpus/%s", fuzz_corpus);
	dir = opendir(folder);
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		replay(path);
		count++;
	}
	closedir(dir);
	assert_true(count >= FEWEST);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(committed_inputs),
	};

	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	return argc > 1 ? 0 :
			  cmocka_run_group_tests_name(fuzz_corpus, tests, NULL,
						      NULL);
}
