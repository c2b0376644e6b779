/*
 * What is said of a measuring child that does not do as it should. This
 * program is its own child: its target tells what it does.
 */
#include "bench/child.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not static, since the system's header may have read() inline. */
int reads_fail;

/* In place of the C library's. */
ssize_t read(int fd, void *bytes, size_t count)
{
	if (reads_fail) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_read, fd, bytes, count);
}

static int ignore_row(const void *row, void *context, struct error *err)
{
	(void)row, (void)context, (void)err;
	return 0;
}

static void ignore_pause(void *context)
{
	(void)context;
}

static int measure(const char *target, struct child_result *result,
		   struct error *err)
{
	const struct options options = { .timeout = OPTION_UNSET };
	const struct child_request request = {
		.options = &options,
		.target = target,
		.run_id = "r",
		.campaign_id = "c",
	};
	const struct child_ear ear = { ignore_row, ignore_pause, NULL };

	return child_measure(result, &request, &ear, err);
}

/* These are no files of the user's, and nothing is missing. */
static void what_cannot_be_read(void **state)
{
	struct child_result result;
	struct error err;

	(void)state;
	assert_int_equal(measure("talks", &result, &err), -1);
	assert_int_equal(err.kind, ERROR_FAILED);
	assert_non_null(strstr(err.message, "talks:1:"));
	assert_int_equal(measure("silent", &result, &err), -1);
	assert_int_equal(err.kind, ERROR_FAILED);
	assert_non_null(strstr(err.message, "ended well, but"));
}

/* That is not the end of what the child has to say. */
static void what_cannot_be_heard(void **state)
{
	struct child_result result;
	struct error err;
	int rc;

	(void)state;
	reads_fail = 1;
	rc = measure("fails", &result, &err);
	reads_fail = 0;
	assert_int_equal(rc, -1);
	assert_int_equal(err.kind, ERROR_FAILED);
	assert_non_null(strstr(err.message, strerror(EIO)));
}

static void what_ends_badly(void **state)
{
	struct child_result result;
	struct error err;

	(void)state;
	assert_int_equal(measure("fails", &result, &err), 0);
	assert_int_equal(result.exit_code, 3);
	assert_string_equal(result.run.reason, "ended with exit code 3");
}

static int be_child(const char *target)
{
	if (strcmp(target, "talks") == 0)
		puts("a driver's words, on standard output\nand more");
	return strcmp(target, "fails") == 0 ? 3 : 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_read),
		cmocka_unit_test(what_cannot_be_heard),
		cmocka_unit_test(what_ends_badly),
	};

	if (argc > 2 && strcmp(argv[1], "measure") == 0)
		return be_child(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
