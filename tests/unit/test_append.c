/*
 * Files of rows that grow: whole lines only, whoever else writes, is killed or
 * finds the disk full.
 */
#include "bench/system/append.h"

#include <linux/magic.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "bench/system/interrupt.h"
#include "tests/unit/faults.h"

static struct append_note note;

static int add(const char *path, const char *header, const char *rows,
	       size_t count, struct error *err)
{
	return append_rows(path, header, rows, count, 1, &note, err);
}

static void appending(void **state)
{
	const char *path = in_folder("rows.csv");
	struct error err;

	(void)state;
	assert_int_equal(add(path, "h\n", "", 0, &err), 0);
	assert_string_equal(read_whole(path), "h\n");
	assert_int_equal(add(path, "h\n", "1\n2\n", 4, &err), 0);
	assert_int_equal(add(path, "h\n", "3\n", 2, &err), 0);
	assert_string_equal(read_whole(path), "h\n1\n2\n3\n");
	assert_refused(add(path, "h,i\n", "4,5\n", 4, &err), &err, path,
		       0);
	assert_non_null(strstr(err.message, "other columns"));
	assert_string_equal(read_whole(path), "h\n1\n2\n3\n");
	assert_int_equal(note.cut, 0);
}

/* An editor changed the form: the message says that the columns are equal. */
static void files_of_another_form(void **state)
{
	static const char *const texts[] = { "h,i\r\n1,2\r\n",
					     "\xEF\xBB\xBFh,i\n1,2\n",
					     "\xEF\xBB\xBFh,i\r\n1,2\r\n" };
	const char *path = in_folder("form.csv");
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		write_file(path, texts[i], strlen(texts[i]));
		assert_refused(add(path, "h,i\n", "4,5\n", 4, &err), &err,
			       path, 0);
		assert_null(strstr(err.message, "columns"));
		assert_non_null(strstr(err.message, "line endings"));
		assert_string_equal(read_whole(path), texts[i]);
	}
	write_file(path, "h,i,j\r\n", 7);
	assert_refused(add(path, "h,i\n", "4,5\n", 4, &err), &err, path, 0);
	assert_non_null(strstr(err.message, "other columns"));
}

/* A file that a killed writer left, and the file after the next one. */
static void torn_tails(void **state)
{
	static const struct {
		const char *before, *mended, *after;
	} tails[] = {
		/* A 2, or the beginning of 23. */
		{ "h,i\n1,2", "h,i\n", "h,i\n4,5\n" },
		{ "h,i\n1,2\r", "h,i\n", "h,i\n4,5\n" },
		{ "h,i\n1,2\n1,2", "h,i\n1,2\n", "h,i\n1,2\n4,5\n" },
		{ "h,i\n1,", "h,i\n", "h,i\n4,5\n" },
		{ "h,i\n1,2\n3", "h,i\n1,2\n", "h,i\n1,2\n4,5\n" },
		{ "h,i\n1", "h,i\n", "h,i\n4,5\n" },
		{ "h,i", "", "h,i\n4,5\n" },
		{ "h", "", "h,i\n4,5\n" },
		{ "", "", "h,i\n4,5\n" },
		{ "h,i\n1,2\n", "h,i\n1,2\n", "h,i\n1,2\n4,5\n" },
	};
	const char *path = in_folder("torn.csv");
	struct error err;
	size_t i, length;

	(void)state;
	for (i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		length = strlen(tails[i].before);
		write_file(path, tails[i].before, length);
		assert_int_equal(append_is_begun(path, "h,i\n"), length < 4);
		assert_int_equal(add(path, "h,i\n", "4,5\n", 4, &err), 0);
		assert_string_equal(read_whole(path), tails[i].after);
		assert_int_equal(note.cut, length - strlen(tails[i].mended));
	}
}

static void long_tails_and_files_of_others(void **state)
{
	const char *path = in_folder("long.csv");
	static char text[9000];
	struct error err;

	(void)state;
	/* A tail longer than what is looked at in one go. */
	memset(text, 'x', sizeof(text));
	memcpy(text, "h,i\n1,2\n", 8);
	write_file(path, text, sizeof(text));
	assert_int_equal(add(path, "h,i\n", "", 0, &err), 0);
	assert_string_equal(read_whole(path), "h,i\n1,2\n");
	/* A file that is not ours is nobody's to mend. */
	write_file(path, "my notes\nh,i", 12);
	assert_refused(add(path, "h,i\n", "4,5\n", 4, &err), &err, path, 0);
	assert_string_equal(read_whole(path), "my notes\nh,i");
	assert_false(append_is_begun(path, "h,i\n"));
	write_file(path, "x", 1);
	assert_false(append_is_begun(path, "h,i\n"));
	assert_false(append_is_begun(in_folder("absent.csv"), "h,i\n"));
}

/* Every call in turn; a torn tail is there to be cut first. */
static void faults_add_nothing(void **state)
{
	static const enum fault faults[] = { OPEN, FLOCK, FTRUNCATE, WRITE };
	const char *path = in_folder("faulty.csv");
	struct error err;
	size_t i;
	int after, rc, hit;

	(void)state;
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		for (after = 0, hit = 1; hit; after++) {
			write_file(path, "h,i\n1,1\n2", 9);
			inject(faults[i], after, after % 2 ? EIO : ENOSPC);
			most = 1;
			rc = add(path, "h,i\n", "22,2\n33,\n", 9, &err);
			most = SIZE_MAX;
			hit = fault_hits > 0;
			inject(NONE, 0, 0);
			if (!hit) {
				assert_int_equal(rc, 0);
				assert_string_equal(read_whole(path),
						    "h,i\n1,1\n22,2\n33,\n");
				break;
			}
			assert_refused(rc, &err, path,
				       after % 2 ? EIO : ENOSPC);
			assert_false(note.stuck);
			assert_string_equal(read_whole(path), note.cut ?
					    "h,i\n1,1\n" : "h,i\n1,1\n2");
		}
		assert_true(after > 0);
	}
}

static void interrupted_locks(void **state)
{
	const char *path = in_folder("faulty.csv");
	struct error err;

	(void)state;
	inject(FLOCK, 0, EINTR);
	write_file(path, "h\n1\n", 4);
	assert_int_equal(add(path, "h\n", "2\n", 2, &err), 0);
	assert_string_equal(read_whole(path), "h\n1\n2\n");
}

/* The message must say that rows are there, for a caller that tries again. */
static void rows_that_got_stuck(void **state)
{
	const char *path = in_folder("stuck.csv");
	struct error err;

	(void)state;
	write_file(path, "h\n", 2);
	inject(CLOSE, 0, EIO);
	assert_refused(add(path, "h\n", "1\n", 2, &err), &err, path, EIO);
	inject(NONE, 0, 0);
	assert_true(note.stuck);
	assert_string_equal(read_whole(path), "h\n1\n");
	assert_refused(add("/dev/full", "h\n", "1\n", 2, &err), &err,
		       "/dev/full", ENOSPC);
}

static void syncing(void **state)
{
	const char *path = in_folder("synced.csv");
	struct error err;

	(void)state;
	assert_refused(append_sync(path, &err), &err, path, ENOENT);
	assert_int_equal(add(path, "h\n", "1\n", 2, &err), 0);
	assert_int_equal(append_sync(path, &err), 0);
	inject(FDATASYNC, 0, EIO);
	assert_refused(append_sync(path, &err), &err, path, EIO);
	inject(CLOSE, 0, EDQUOT);
	assert_refused(append_sync(path, &err), &err, path, EDQUOT);
	inject(NONE, 0, 0);
	assert_int_equal(append_sync("/dev/null", &err), 0);
	assert_string_equal(read_whole(path), "h\n1\n");
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
		if (add(path, "writer,batch,text\n", rows, strlen(rows),
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

/* Killed at any moment. */
static void writers_that_are_killed(void **state)
{
	const char *path = in_folder("killed.csv"), *at;
	int round, status, writer, batch, end;
	struct error err;
	pid_t pid;

	(void)state;
	for (round = 0; round < 20; round++) {
		pid = fork();
		if (pid == 0)
			write_many(path, round);
		usleep((useconds_t)(round * 100));
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	assert_int_equal(add(path, "writer,batch,text\n", "", 0, &err), 0);
	at = read_whole(path);
	assert_int_equal(strncmp(at, "writer,batch,text\n", 18), 0);
	for (at += 18; *at; at += end) {
		end = 0;
		assert_int_equal(sscanf(at, "%d,%d,whole%n", &writer, &batch,
					&end), 2);
		assert_true(end > 0 && at[end++] == '\n');
	}
}

static const int no_locks[] = { ENOSYS, EOPNOTSUPP, ENOLCK };

/* Without locks others may be writing: rows are added, and none removed. */
static void file_systems_without_locks(void **state)
{
	const char *path = in_folder("unlocked.csv");
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(no_locks) / sizeof(no_locks[0]); i++) {
		inject(FLOCK, 0, no_locks[i]);
		write_file(path, "h,i\n1,1\n", 8);
		assert_int_equal(add(path, "h,i\n", "4,5\n", 4, &err), 0);
		assert_true(note.unlocked);
		assert_string_equal(read_whole(path), "h,i\n1,1\n4,5\n");
		write_file(path, "h,i\n1,1\n2", 9);
		assert_refused(add(path, "h,i\n", "4,5\n", 4, &err), &err,
			       path, 0);
		assert_non_null(strstr(err.message, "no locks"));
		assert_true(note.busy);
		assert_string_equal(read_whole(path), "h,i\n1,1\n2");
		assert_int_equal(append_lock(path), -1);
		assert_int_equal(append_share(folder), -1);
	}
	inject(NONE, 0, 0);
}

/* A part that was written stays: rows of others may follow it. */
static void failed_writes_without_locks(void **state)
{
	const char *path = in_folder("limited.csv");
	struct rlimit limit, small;
	struct error err;
	int rc;

	(void)state;
	write_file(path, "h,i\n1,1\n", 8);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 10;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	inject(FLOCK, 0, ENOSYS);
	rc = add(path, "h,i\n", "4,5\n", 4, &err);
	inject(NONE, 0, 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_refused(rc, &err, path, EFBIG);
	assert_true(note.stuck);
	assert_string_equal(read_whole(path), "h,i\n1,1\n4,");
}

static long kind_of_system; /* 0: the true one */

int fstatfs(int fd, struct statfs *status)
{
	const int rc = (int)syscall(SYS_fstatfs, fd, status);

	if (kind_of_system)
		status->f_type = kind_of_system;
	return rc;
}

/* A process counts as alone only if that is certain: others may still run. */
static void folders_in_use(void **state)
{
	const char *dir = own_folder("used"), *path = beside(dir, "rows.csv");
	const int one = append_share(dir);
	int two, file;

	(void)state;
	write_file(path, "h\n", 2);
	kind_of_system = EXT4_SUPER_MAGIC;
	assert_true(one >= 0);
	assert_int_equal(append_is_alone(one), 1);
	two = append_share(dir);
	assert_int_equal(append_is_alone(one), 0);
	assert_int_equal(close(two), 0);
	assert_int_equal(append_is_alone(one), 1);
	for (size_t i = 0; i < sizeof(no_locks) / sizeof(no_locks[0]); i++) {
		inject(FLOCK, 0, no_locks[i]);
		assert_int_equal(append_is_alone(one), -1);
	}
	inject(NONE, 0, 0);
	like_nfs = 1;
	assert_int_equal(append_is_alone(one), -1);
	file = append_lock(path);
	assert_true(file >= 0);
	assert_int_equal(close(file), 0);
	like_nfs = 0;
	/* Of other hosts nothing is seen. */
	kind_of_system = NFS_SUPER_MAGIC;
	assert_int_equal(append_is_alone(one), -1);
	kind_of_system = 0;
	assert_int_equal(close(one), 0);
}

/* Of a process that holds on to it; nobody else may hang. */
static void files_that_others_have(void **state)
{
	const char *path = in_folder("busy.csv");
	struct error err;
	int fd;

	(void)state;
	write_file(path, "h\n", 2);
	fd = open(path, O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_refused(append_rows(path, "h\n", "1\n", 2, 0, &note, &err),
		       &err, path, 0);
	assert_true(note.busy);
	interrupt_adopt(SIGINT);
	assert_refused(add(path, "h\n", "1\n", 2, &err), &err, path, 0);
	assert_true(note.busy);
	assert_int_equal(close(fd), 0);
	assert_int_equal(add(path, "h\n", "1\n", 2, &err), 0);
	assert_string_equal(read_whole(path), "h\n1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appending),
		cmocka_unit_test(files_of_another_form),
		cmocka_unit_test(torn_tails),
		cmocka_unit_test(long_tails_and_files_of_others),
		cmocka_unit_test(faults_add_nothing),
		cmocka_unit_test(interrupted_locks),
		cmocka_unit_test(rows_that_got_stuck),
		cmocka_unit_test(syncing),
		cmocka_unit_test(many_writers),
		cmocka_unit_test(writers_that_are_killed),
		cmocka_unit_test(file_systems_without_locks),
		cmocka_unit_test(failed_writes_without_locks),
		cmocka_unit_test(folders_in_use),
		/* The last, because a signal that came stays. */
		cmocka_unit_test(files_that_others_have),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
