/* Texts in the user's cache: which count, and which do not. */
#include "bench/system/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "bench/system/hash.h"
#include "tests/cmocka.h"
#include "tests/unit/folder.h"

#define FOLDER "found"

static const char question[] = "what was asked\nand where\n";
static const char answer[] = "what was found\n";

/* The file of the question in the cache below the test's folder. */
static const char *entry(void)
{
	static char path[512];
	char hex[HASH_SHA256_SIZE];

	hash_sha256(NULL, 0, question, strlen(question), hex);
	snprintf(path, sizeof(path), "%.300s/bench/" FOLDER "/%s", folder, hex);
	return path;
}

/* Is this the answer that is found? NULL: none is. */
static int finds(const char *folder_name, const char *asked,
		 const char *expected)
{
	char *found = kept_find(folder_name, asked);
	const int is_it = found && expected ? !strcmp(found, expected) :
					      !found && !expected;

	free(found);
	return is_it;
}

static void keep(const char *text)
{
	struct error err;

	if (kept_add(FOLDER, question, text, &err))
		fail_msg("%s", err.message);
	assert_true(finds(FOLDER, question, text));
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
	assert_true(finds(FOLDER, question, NULL));
	keep(answer);
	assert_true(finds("others", question, NULL));
	assert_true(finds(FOLDER, "what was asked\n", NULL));
	assert_true(finds(FOLDER, "", NULL));
	/* The new one takes the old one's place. */
	keep("");
	keep(answer);
}

static void what_is_not_whole_does_not_count(void **state)
{
	char *text = NULL;
	size_t room = 0;
	FILE *file;

	(void)state;
	keep(answer);
	file = fopen(entry(), "r");
	assert_non_null(file);
	assert_true(getdelim(&text, &room, '\0', file) > 0);
	fclose(file);
	write_entry("more", "a");
	assert_true(finds(FOLDER, question, NULL));
	write_entry(text, "w");
	assert_true(finds(FOLDER, question, answer));
	/* Another answer, another question, and each shorter text. */
	*strstr(text, "found") = 'F';
	write_entry(text, "w");
	assert_true(finds(FOLDER, question, NULL));
	keep(answer);
	*strstr(text, "Found") = 'f';
	*strstr(text, "asked") = 'A';
	write_entry(text, "w");
	assert_true(finds(FOLDER, question, NULL));
	*strstr(text, "Asked") = 'a';
	for (size_t length = strlen(text); length--;) {
		text[length] = '\0';
		write_entry(text, "w");
		assert_true(finds(FOLDER, question, NULL));
	}
	free(text);
	keep(answer);
}

static void what_others_may_write_does_not_count(void **state)
{
	char elsewhere[600];

	(void)state;
	keep(answer);
	assert_int_equal(chmod(entry(), 0660), 0);
	assert_true(finds(FOLDER, question, NULL));
	umask(0);
	keep(answer);
	umask(022);
	snprintf(elsewhere, sizeof(elsewhere), "%.300s/elsewhere", folder);
	assert_int_equal(rename(entry(), elsewhere), 0);
	assert_int_equal(symlink(elsewhere, entry()), 0);
	assert_true(finds(FOLDER, question, NULL));
	/* It takes the link's place, and leaves alone what it led to. */
	keep(answer);
	assert_int_equal(unlink(entry()), 0);
	assert_int_equal(mkfifo(entry(), 0600), 0);
	assert_true(finds(FOLDER, question, NULL));
	keep(answer);
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
	assert_true(finds(FOLDER, question, NULL));
	assert_int_equal(kept_add(FOLDER, question, answer, &err), -1);
	assert_int_equal(err.kind, ERROR_OUTPUT);
	assert_non_null(strstr(err.message, "HOME"));
	setenv("HOME", "/dev/null", 1);
	assert_int_equal(kept_add(FOLDER, question, answer, &err), -1);
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
		cmocka_unit_test(what_is_not_whole_does_not_count),
		cmocka_unit_test(what_others_may_write_does_not_count),
		cmocka_unit_test(without_a_home_nothing_is_kept),
	};

	return cmocka_run_group_tests_name("kept", tests, set_up,
					   folder_remove);
}
