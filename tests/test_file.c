/*
 * Writing results when the system does not play along: what was there stays,
 * what is new is whole or absent, and the message names file and reason.
 */
#include "bench/file.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/wait.h>

#include "tests/faults.h"

static void replace(const char *path, const char *text)
{
	struct error err;

	if (file_replace(path, text, strlen(text), &err))
		fail_msg("%s", err.message);
}

static void new_and_old(void **state)
{
	const char *dir = own_folder("replace"), *path = beside(dir, "a.csv");
	struct stat status;

	(void)state;
	umask(027);
	replace(path, "one");
	assert_string_equal(read_whole(path), "one");
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	assert_int_equal(chmod(path, 0604), 0);
	most = 1; /* byte by byte */
	replace(path, "another");
	most = SIZE_MAX;
	assert_string_equal(read_whole(path), "another");
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0604);
	replace(path, "");
	assert_string_equal(read_whole(path), "");
	assert_int_equal(entries(dir), 1);
	umask(022);
}

static void faults_leave_the_old_file(void **state)
{
	static const struct {
		enum fault fault;
		int after, number;
	} faults[] = {
		{ WRITE, 0, ENOSPC }, { WRITE, 2, EIO },    { FSYNC, 0, EIO },
		{ FSYNC, 0, EDQUOT }, { RENAME, 0, EACCES },
	};
	const char *dir = own_folder("faults"), *path = beside(dir, "a.csv");
	struct error err;
	size_t i;
	int rc;

	(void)state;
	replace(path, "old");
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		inject(faults[i].fault, faults[i].after, faults[i].number);
		most = 2;
		rc = file_replace(path, "brand new", 9, &err);
		most = SIZE_MAX;
		inject(NONE, 0, 0);
		assert_refused(rc, &err, path, faults[i].number);
		assert_string_equal(read_whole(path), "old");
		assert_int_equal(entries(dir), 1);
	}
	inject(WRITE, 0, EINTR);
	replace(path, "new");
	assert_string_equal(read_whole(path), "new");
}

static void links_stay_links(void **state)
{
	const char *dir = own_folder("links"), *link = beside(dir, "link");
	const char *far = own_folder("far"), *path = beside(far, "real.csv");
	struct stat status;

	(void)state;
	assert_int_equal(symlink("../far/real.csv", link), 0);
	replace(link, "made"); /* it pointed nowhere */
	assert_string_equal(read_whole(path), "made");
	replace(link, "replaced");
	assert_string_equal(read_whole(path), "replaced");
	assert_int_equal(lstat(link, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(entries(dir), 1);
	assert_int_equal(entries(far), 1);
}

static void devices_and_pipes(void **state)
{
	const char *fifo = in_folder("fifo");
	struct stat status;
	struct error err;
	char text[8] = "";
	int fd;

	(void)state;
	replace("/dev/null", "gone");
	assert_int_equal(stat("/dev/null", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
	assert_refused(file_replace("/dev/full", "x", 1, &err), &err,
		       "/dev/full", ENOSPC);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	fd = open(fifo, O_RDWR);
	replace(fifo, "piped");
	assert_int_equal(read(fd, text, 5), 5);
	assert_string_equal(text, "piped");
	close(fd);
	assert_int_equal(stat(fifo, &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
}

/* The path of a descriptor may be a file that somebody else still writes. */
static void open_files_are_added_to(void **state)
{
	const char *path = in_folder("output.txt");
	char name[64];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	(void)state;
	assert_int_equal(write(fd, "first ", 6), 6);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	replace(name, "second");
	close(fd);
	assert_string_equal(read_whole(path), "first second");
}

static void impossible_places(void **state)
{
	const char *absent = in_folder("absent/a.csv");
	const char *dir = own_folder("not-a-file");
	const char *under = in_folder("plain/a.csv");
	struct error err;

	(void)state;
	write_file(in_folder("plain"), "x", 1);
	assert_refused(file_replace(dir, "x", 1, &err), &err, dir, EISDIR);
	assert_refused(file_replace(absent, "x", 1, &err), &err, absent,
		       ENOENT);
	assert_refused(file_replace(under, "x", 1, &err), &err, under, ENOTDIR);
	assert_refused(file_replace("", "x", 1, &err), &err, "", 0);
	assert_refused(file_check(dir, &err), &err, dir, EISDIR);
	assert_refused(file_check(absent, &err), &err, absent, ENOENT);
	assert_refused(file_make_folder(under, &err), &err, under, 0);
}

static void checking_changes_nothing(void **state)
{
	const char *dir = own_folder("check"), *path = beside(dir, "a.csv");
	struct error err;

	(void)state;
	assert_int_equal(file_check(path, &err), 0);
	assert_int_equal(entries(dir), 0);
	write_file(path, "old", 3);
	assert_int_equal(file_check(path, &err), 0);
	assert_string_equal(read_whole(path), "old");
	assert_int_equal(entries(dir), 1);
	assert_int_equal(file_check("/dev/null", &err), 0);
	assert_int_equal(file_make_folder(beside(dir, "x/y/z"), &err), 0);
	assert_int_equal(file_make_folder(beside(dir, "x/y/z"), &err), 0);
	assert_int_equal(entries(beside(dir, "x/y")), 1);
}

static void appending(void **state)
{
	const char *path = in_folder("rows.csv");
	struct error err;

	(void)state;
	assert_int_equal(file_append(path, "h\n", "", 0, &err), 0);
	assert_string_equal(read_whole(path), "h\n");
	assert_int_equal(file_append(path, "h\n", "1\n2\n", 4, &err), 0);
	assert_int_equal(file_append(path, "h\n", "3\n", 2, &err), 0);
	assert_string_equal(read_whole(path), "h\n1\n2\n3\n");
	assert_refused(file_append(path, "h,i\n", "4,5\n", 4, &err), &err, path,
		       0);
	assert_non_null(strstr(err.message, "other columns"));
	assert_string_equal(read_whole(path), "h\n1\n2\n3\n");
	/* Somebody's editor left out the last line break. */
	write_file(path, "h\n1", 3);
	assert_int_equal(file_append(path, "h\n", "2\n", 2, &err), 0);
	assert_string_equal(read_whole(path), "h\n1\n2\n");
}

static void appending_with_faults(void **state)
{
	static const struct {
		enum fault fault;
		int after;
	} faults[] = { { WRITE, 0 }, { WRITE, 1 }, { WRITE, 3 },
		       { FDATASYNC, 0 }, { FLOCK, 0 } };
	const char *path = in_folder("faulty.csv");
	struct error err;
	size_t i;
	int rc;

	(void)state;
	write_file(path, "h\n1\n", 4);
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		inject(faults[i].fault, faults[i].after, ENOSPC);
		most = 1;
		rc = file_append(path, "h\n", "22\n33\n", 6, &err);
		most = SIZE_MAX;
		inject(NONE, 0, 0);
		assert_refused(rc, &err, path, ENOSPC);
		assert_string_equal(read_whole(path), "h\n1\n");
	}
	inject(FLOCK, 0, EINTR);
	assert_int_equal(file_append(path, "h\n", "2\n", 2, &err), 0);
	assert_string_equal(read_whole(path), "h\n1\n2\n");
}

enum { WRITERS = 8, BATCHES = 25 };

/* Slow writers, so that without a lock their bytes would mix. */
static void write_many(const char *path, int writer)
{
	struct error err;
	char rows[64];
	int i;

	most = 1;
	for (i = 0; i < BATCHES; i++) {
		snprintf(rows, sizeof(rows), "%d,%d,whole\n%d,%d,whole\n",
			 writer, i, writer, i);
		if (file_append(path, "writer,batch,text\n", rows, strlen(rows),
				&err))
			_exit(1);
	}
	_exit(0);
}

static void many_writers(void **state)
{
	const char *path = in_folder("many.csv"), *at;
	int i, status, writer, batch, end, lines = 0;
	pid_t pids[WRITERS];

	(void)state;
	for (i = 0; i < WRITERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			write_many(path, i);
	}
	for (i = 0; i < WRITERS; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	at = read_whole(path);
	assert_int_equal(strncmp(at, "writer,batch,text\n", 18), 0);
	for (at += 18; *at; at += end, lines++) {
		end = 0;
		assert_int_equal(sscanf(at, "%d,%d,whole%n", &writer, &batch,
					&end), 2);
		assert_true(end > 0 && at[end++] == '\n');
	}
	assert_int_equal(lines, WRITERS * BATCHES * 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_and_old),
		cmocka_unit_test(faults_leave_the_old_file),
		cmocka_unit_test(links_stay_links),
		cmocka_unit_test(devices_and_pipes),
		cmocka_unit_test(open_files_are_added_to),
		cmocka_unit_test(impossible_places),
		cmocka_unit_test(checking_changes_nothing),
		cmocka_unit_test(appending),
		cmocka_unit_test(appending_with_faults),
		cmocka_unit_test(many_writers),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
