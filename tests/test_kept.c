/* Texts in the user's cache: which count, and which do not. */
#include "bench/system/file.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/system/hash.h"
#include "tests/folder.h"

#define FOLDER "found"

static const char text[] = "what was found\nand where\n";

/* The file of the text in the cache below the test's folder. */
static const char *entry(void)
{
	static char path[512];
	char hex[HASH_SHA256_SIZE];

	hash_sha256(NULL, 0, text, strlen(text), hex);
	snprintf(path, sizeof(path), "%.300s/bench/" FOLDER "/%s", folder, hex);
	return path;
}

static void keep(void)
{
	struct error err;

	if (kept_add(FOLDER, text, &err))
		fail_msg("%s", err.message);
	assert_true(kept_has(FOLDER, text));
}

static void write_entry(const char *bytes, const char *how)
{
	FILE *file = fopen(entry(), how);

	assert_non_null(file);
	assert_true(fputs(bytes, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void what_is_kept_is_found(void **state)
{
	(void)state;
	assert_false(kept_has(FOLDER, text));
	keep();
	assert_false(kept_has("others", text));
	assert_false(kept_has(FOLDER, "what was found\n"));
	assert_false(kept_has(FOLDER, ""));
}

static void what_is_not_the_text_does_not_count(void **state)
{
	(void)state;
	keep();
	write_entry("more", "a");
	assert_false(kept_has(FOLDER, text));
	write_entry("what was lost!\nand where\n", "w");
	assert_false(kept_has(FOLDER, text));
	write_entry("", "w");
	assert_false(kept_has(FOLDER, text));
	keep();
}

static void what_others_may_write_does_not_count(void **state)
{
	char elsewhere[600];

	(void)state;
	keep();
	assert_int_equal(chmod(entry(), 0660), 0);
	assert_false(kept_has(FOLDER, text));
	umask(0);
	keep();
	umask(022);
	snprintf(elsewhere, sizeof(elsewhere), "%.300s/elsewhere", folder);
	assert_int_equal(rename(entry(), elsewhere), 0);
	assert_int_equal(symlink(elsewhere, entry()), 0);
	assert_false(kept_has(FOLDER, text));
	/* It takes the link's place, and leaves alone what it led to. */
	keep();
	assert_int_equal(unlink(entry()), 0);
	assert_int_equal(mkfifo(entry(), 0600), 0);
	assert_false(kept_has(FOLDER, text));
	keep();
}

static void without_a_home_nothing_is_kept(void **state)
{
	struct error err;
	char path[PATH_MAX];

	(void)state;
	setenv("XDG_CACHE_HOME", "not/absolute", 1);
	unsetenv("HOME");
	kept_cache(path);
	assert_string_equal(path, "");
	assert_false(kept_has(FOLDER, text));
	assert_int_equal(kept_add(FOLDER, text, &err), -1);
	assert_int_equal(err.kind, ERROR_OUTPUT);
	assert_non_null(strstr(err.message, "HOME"));
	setenv("HOME", "/dev/null", 1);
	assert_int_equal(kept_add(FOLDER, text, &err), -1);
	assert_non_null(strstr(err.message, "/dev/null/.cache"));
}

static int set_up(void **state)
{
	if (folder_make(state))
		return -1;
	return setenv("XDG_CACHE_HOME", folder, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_is_found),
		cmocka_unit_test(what_is_not_the_text_does_not_count),
		cmocka_unit_test(what_others_may_write_does_not_count),
		cmocka_unit_test(without_a_home_nothing_is_kept),
	};

	return cmocka_run_group_tests_name("kept", tests, set_up,
					   folder_remove);
}
