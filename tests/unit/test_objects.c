/* Which files a process has mapped, and whether one has changed. */
#include "bench/system/objects.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cmocka.h"
#include "tests/unit/folder.h"

static int has(const struct objects *objects, const char *part)
{
	int count = 0;

	for (size_t i = 0; i < objects->count; i++)
		count += strstr(objects->paths[i], part) != NULL;
	return count;
}

static void read_reports(struct objects *objects)
{
	struct error err;

	if (objects_read(objects, &err))
		fail_msg("%s", err.message);
}

static void a_report_has_program_and_libraries(void **state)
{
	struct objects objects = { 0 };
	struct error err;
	char self[PATH_MAX] = "", place[PATH_MAX] = "";

	(void)state;
	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	if (objects_open(&objects, &err))
		fail_msg("%s", err.message);
	/* In memory: no folder has to be writable. */
	assert_true(readlink(strchr(objects.variable, '/'), place,
			     sizeof(place) - 1) > 0);
	assert_memory_equal(place, "/memfd:", strlen("/memfd:"));
	objects_report(); /* to nobody */
	read_reports(&objects);
	assert_int_equal(objects.count, 0);
	putenv(objects.variable);
	objects_report();
	objects_report();
	read_reports(&objects);
	assert_int_equal(has(&objects, self), 1);
	assert_int_equal(has(&objects, "/libcmocka.so"), 1);
	assert_int_equal(has(&objects, "[heap]"), 0);
	for (size_t i = 1; i < objects.count; i++)
		assert_true(strcmp(objects.paths[i - 1], objects.paths[i]) < 0);
	/* What was read once is not read again. */
	read_reports(&objects);
	assert_int_equal(objects.count, 0);
	unsetenv("BENCH_OBJECTS");
	objects_close(&objects);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void a_stamp_changes_with_the_content(void **state)
{
	const struct timespec old[2] = { { .tv_sec = 1000000000 },
					 { .tv_sec = 1000000000 } };
	char path[600], before[OBJECT_STAMP_SIZE], after[OBJECT_STAMP_SIZE];

	(void)state;
	snprintf(path, sizeof(path), "%.300s/object", folder);
	assert_int_equal(object_stamp(path, before), -1);
	assert_string_equal(before, "");
	assert_int_equal(object_stamp(folder, before), -1);
	write_text(path, "one");
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	/* Its time is of now, whatever it says that it was written at. */
	assert_int_equal(object_stamp(path, before), 1);
	assert_int_equal(object_stamp(path, after), 1);
	assert_string_equal(before, after);
	usleep(50000); /* more than a tick of the system's clock */
	write_text(path, "two");
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	object_stamp(path, after);
	assert_string_not_equal(before, after);
	/* This one is older. */
	assert_int_equal(object_stamp("/bin/sh", after), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_has_program_and_libraries),
		cmocka_unit_test(a_stamp_changes_with_the_content),
	};

	return cmocka_run_group_tests_name("objects", tests, folder_make,
					   folder_remove);
}
