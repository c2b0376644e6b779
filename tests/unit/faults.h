/*
 * For tests: system calls that fail on demand. A program that includes this
 * has its own versions, which take the place of the C library's.
 */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/cmocka.h"
#include "tests/unit/rows.h"

enum fault {
	NONE,
	OPEN,
	WRITE,
	FSYNC,
	FDATASYNC,
	FTRUNCATE,
	CLOSE,
	RENAME,
	FLOCK
};

static enum fault fault;
static int fault_after; /* calls that still work */
static int fault_errno;
static int fault_hits; /* calls that failed since inject() */
static size_t most = SIZE_MAX; /* bytes that a write takes */
static int like_nfs; /* exclusive locks require permission to write */

static inline int fails(enum fault which)
{
	if (fault != which || fault_after-- > 0)
		return 0;
	errno = fault_errno;
	fault_hits++;
	/* A signal interrupts once, a full disk stays full. */
	if (fault_errno == EINTR)
		fault = NONE;
	return 1;
}

int openat(int at, const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	return fails(OPEN) ? -1 :
			     (int)syscall(SYS_openat, at, path, flags,
					  mode);
}

int open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	return openat(AT_FDCWD, path, flags, mode);
}

/* The descriptor is gone in any case, as in Linux. */
int close(int fd)
{
	const int failed = fails(CLOSE), number = errno;
	const int rc = (int)syscall(SYS_close, fd);

	if (failed)
		errno = number;
	return failed ? -1 : rc;
}

int ftruncate(int fd, off_t size)
{
	return fails(FTRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
	if (fails(WRITE))
		return -1;
	return syscall(SYS_write, fd, bytes, count < most ? count : most);
}

int fsync(int fd)
{
	return fails(FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return fails(FDATASYNC) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int renameat(int from, const char *old, int to, const char *new)
{
	return fails(RENAME) ? -1 :
			       (int)syscall(SYS_renameat2, from, old, to, new,
					    0);
}

int flock(int fd, int operation)
{
	if (like_nfs && operation & LOCK_EX &&
	    (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
		errno = EBADF;
		return -1;
	}
	return fails(FLOCK) ? -1 : (int)syscall(SYS_flock, fd, operation);
}

static inline void inject(enum fault which, int after, int number)
{
	fault = which;
	fault_after = after;
	fault_errno = number;
	fault_hits = 0;
}

/* Counts the entries of a folder, hidden ones included. */
static inline int entries(const char *path)
{
	DIR *dir = opendir(path);
	int count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

static inline const char *own_folder(const char *name)
{
	const char *path = in_folder(name);

	assert_int_equal(mkdir(path, 0755), 0);
	return path;
}

static inline const char *beside(const char *dir, const char *name)
{
	static char paths[4][PATH_MAX + 64];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, PATH_MAX + 64, "%s/%s", dir, name);
	return path;
}

static inline void assert_refused(int rc, const struct error *err,
				  const char *path, int number)
{
	assert_int_equal(rc, -1);
	assert_int_equal(err->kind, ERROR_OUTPUT);
	assert_non_null(strstr(err->message, path));
	if (number)
		assert_non_null(strstr(err->message, strerror(number)));
}

#endif
