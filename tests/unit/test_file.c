/*
 * Writing results when the system does not play along: what was there stays,
 * what is new is whole or absent, and the message names file and reason.
 */
#include "bench/system/file.h"

#include "tests/unit/faults.h"

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

/* Every call that writes, in turn: once, and from then on. */
static void faults_leave_the_old_file(void **state)
{
	static const enum fault faults[] = { OPEN, WRITE, FSYNC, CLOSE,
					     RENAME };
	const char *dir = own_folder("faults"), *path = beside(dir, "a.csv");
	struct error err;
	size_t i;
	int after, rc, hit, folder_only;

	(void)state;
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		for (after = 0, hit = 1; hit; after++) {
			replace(path, "old");
			inject(faults[i], after, after % 2 ? EIO : ENOSPC);
			most = 4;
			rc = file_replace(path, "brand new", 9, &err);
			most = SIZE_MAX;
			hit = fault_hits > 0;
			/* Only the folder's own sync comes after the rename,
			 * and closing the folder loses nothing. */
			folder_only = (faults[i] == FSYNC && after == 1) ||
				      (faults[i] == CLOSE && after == 1);
			inject(NONE, 0, 0);
			if (hit && !(faults[i] == CLOSE && after == 1))
				assert_refused(rc, &err, path,
					       after % 2 ? EIO : ENOSPC);
			else
				assert_int_equal(rc, 0);
			assert_string_equal(read_whole(path),
					    hit && !folder_only ? "old" :
								  "brand new");
			assert_int_equal(entries(dir), 1);
		}
		assert_true(after > 1);
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

static void a_tree_is_removed(void **state)
{
	const char *tree = own_folder("tree"), *outside = own_folder("outside");
	struct error err;

	(void)state;
	assert_int_equal(file_make_folder(beside(tree, "a/b"), &err), 0);
	write_file(beside(tree, "a/b/a.csv"), "old", 3);
	write_file(beside(outside, "a.csv"), "old", 3);
	assert_int_equal(symlink(outside, beside(tree, "link")), 0);
	file_remove_tree(tree);
	assert_int_equal(access(tree, F_OK), -1);
	assert_string_equal(read_whole(beside(outside, "a.csv")), "old");
	file_remove_tree(tree);
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
		cmocka_unit_test(a_tree_is_removed),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
