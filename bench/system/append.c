#include "bench/system/append.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bench/system/file.h"
#include "bench/system/interrupt.h"

enum {
	MODE = 0666,	    /* less the umask */
	PAUSE_MS = 10,	    /* between two looks at a lock */
	PATIENCE_MS = 2000, /* after this process was asked to end */
};

/* Reasons for not appending rows, in addition to values of errno. */
enum { OTHER_COLUMNS = -3, OTHER_FORM, TORN };

static const char *const refusals[] = {
	"its header has other columns than this program writes; choose another "
	"folder",
	"it was saved with a byte-order mark or with line endings of another "
	"system; save it as UTF-8 with LF alone, or choose another folder",
	"its last line is incomplete, and its file system has no locks: "
	"another process may be writing it; remove the line, or choose another "
	"folder",
};

static int append_error(const char *path, int number, struct error *err)
{
	if (number < 0)
		return error_set(err, ERROR_OUTPUT, "cannot add rows to %s: %s",
				 path, refusals[number - OTHER_COLUMNS]);
	return error_set(err, ERROR_OUTPUT, "cannot write %s: %s", path,
			 number == EWOULDBLOCK ? "locked by another process" :
						 strerror(number));
}

/* Returns errno: EWOULDBLOCK if another process has the lock and wait is 0, or
 * if this process was asked to end some time ago. */
static int lock(int fd, int operation, int wait)
{
	int pauses = PATIENCE_MS / PAUSE_MS, number;

	for (;;) {
		number = flock(fd, operation | LOCK_NB) ? errno : 0;
		if (number == EINTR)
			continue;
		if (number != EWOULDBLOCK || !wait)
			return number;
		if (interrupt_signal() && pauses-- == 0)
			return number;
		poll(NULL, 0, PAUSE_MS);
	}
}

/* Is it the file system that has no locks? */
static int has_no_locks(int number)
{
	return number == ENOSYS || number == EOPNOTSUPP || number == ENOLCK;
}

/* Does the file have these bytes at that place? */
static int has_bytes(int fd, off_t place, const char *bytes, size_t length)
{
	size_t at, count;
	char piece[1024];

	for (at = 0; at < length; at += count) {
		count = length - at < sizeof(piece) ? length - at :
						      sizeof(piece);
		if (pread(fd, piece, count, place + (off_t)at) !=
		    (ssize_t)count || memcmp(piece, bytes + at, count) != 0)
			return 0;
	}
	return 1;
}

/* Returns 1 if file and header are equal up to the end of the shorter one. */
static int starts_like(int fd, off_t size, const char *header)
{
	const size_t length = strlen(header);

	return has_bytes(fd, 0, header, size < (off_t)length ? (size_t)size :
							       length);
}

/* Returns why a file does not start like header: OTHER_FORM if its columns are
 * equal. */
static int find_difference(int fd, const char *header)
{
	const size_t mark = has_bytes(fd, 0, "\xEF\xBB\xBF", 3) ? 3 : 0;
	const size_t length = strlen(header) - 1;

	return has_bytes(fd, (off_t)mark, header, length) &&
	       (mark || has_bytes(fd, (off_t)length, "\r\n", 2)) ?
		       OTHER_FORM : OTHER_COLUMNS;
}

/* The end of a file. */
struct file_end {
	off_t size, lines; /* of all of it, and of its whole lines */
};

/* Finds the end of the last complete line. Returns errno. */
static int find_lines(int fd, struct file_end *end)
{
	char bytes[4096];
	off_t at;
	ssize_t count, i;

	errno = 0;
	for (at = end->size; at > 0; at -= count) {
		count = at < (off_t)sizeof(bytes) ? (ssize_t)at :
						    (ssize_t)sizeof(bytes);
		if (pread(fd, bytes, (size_t)count, at - count) != count)
			return errno ? errno : EIO;
		for (i = count; i > 0; i--)
			if (bytes[i - 1] == '\n') {
				end->lines = at - count + i;
				return 0;
			}
	}
	return 0;
}

/* Finds the end. Refuses a file that is not ours. Returns errno. */
static int find_end(int fd, const char *header, struct file_end *end)
{
	struct stat status;

	*end = (struct file_end){ 0 };
	if (fstat(fd, &status))
		return errno;
	if (!S_ISREG(status.st_mode) || status.st_size == 0)
		return 0;
	end->size = status.st_size;
	if (!starts_like(fd, end->size, header))
		return find_difference(fd, header);
	return find_lines(fd, end);
}

/* Removes a torn line, unless another process may be writing it. Returns
 * errno. */
static int cut_tail(int fd, struct file_end *end, struct append_note *note)
{
	if (end->lines == end->size)
		return 0;
	note->busy = note->unlocked;
	if (note->unlocked)
		return TORN;
	if (ftruncate(fd, end->lines))
		return errno;
	note->cut = (size_t)(end->size - end->lines);
	end->size = end->lines;
	return 0;
}

/* Returns errno. A partial write is removed, unless rows of other processes may
 * follow it. */
static int append_to(int fd, const char *header, const char *rows,
		     size_t count, struct append_note *note)
{
	struct file_end end;
	const char *first;
	char *bytes;
	int number = find_end(fd, header, &end);

	if (!number)
		number = cut_tail(fd, &end, note);
	if (number)
		return number;
	first = end.size == 0 ? header : "";
	bytes = malloc(strlen(first) + count + 1);
	if (!bytes)
		return ENOMEM;
	memcpy(bytes, first, strlen(first));
	memcpy(bytes + strlen(first), rows, count);
	number = file_write_all(fd, bytes, strlen(first) + count);
	free(bytes);
	if (number)
		note->stuck = note->unlocked || ftruncate(fd, end.size);
	return number;
}

int append_rows(const char *path, const char *header, const char *rows,
		size_t count, int wait, struct append_note *note,
		struct error *err)
{
	int fd, number;

	*note = (struct append_note){ 0 };
	fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOCTTY | O_CLOEXEC,
		  MODE);
	if (fd < 0)
		return append_error(path, errno, err);
	number = lock(fd, LOCK_EX, wait);
	note->busy = number == EWOULDBLOCK;
	note->unlocked = has_no_locks(number);
	if (!number || note->unlocked)
		number = append_to(fd, header, rows, count, note);
	if (close(fd) && !number) {
		number = errno;
		note->stuck = 1;
	}
	return number ? append_error(path, number, err) : 0;
}

int append_sync(const char *path, struct error *err)
{
	int fd, number = 0;

	fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return append_error(path, errno, err);
	/* EINVAL: not a file, nothing to wait for. */
	if (fdatasync(fd) && errno != EINVAL)
		number = errno;
	if (close(fd) && !number)
		number = errno;
	return number ? append_error(path, number, err) : 0;
}

int append_is_begun(const char *path, const char *header)
{
	struct stat status;
	int fd, begun;

	/* Only regular files are opened: opening another kind may have an
	 * effect. */
	if (stat(path, &status) || !S_ISREG(status.st_mode) ||
	    status.st_size >= (off_t)strlen(header))
		return 0;
	fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	begun = starts_like(fd, status.st_size, header);
	close(fd);
	return begun;
}

static int open_and_lock(const char *path, int flags, int operation)
{
	const int fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0 && lock(fd, operation, 1)) {
		close(fd);
		return -1;
	}
	return fd;
}

int append_lock(const char *path)
{
	/* NFS has no exclusive lock for who can only read. */
	return open_and_lock(path, O_RDWR, LOCK_EX);
}

int append_share(const char *path)
{
	return open_and_lock(path, O_RDONLY, LOCK_SH);
}

/* File systems that other hosts may have in use: Linux has their folders' locks
 * hold on this host. */
static int is_shared(int fd)
{
	static const unsigned kinds[] = {
		AFS_SUPER_MAGIC,  AFS_FS_MAGIC,	    CEPH_SUPER_MAGIC,
		CIFS_SUPER_MAGIC, CODA_SUPER_MAGIC, FUSE_SUPER_MAGIC,
		NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC,  SMB2_SUPER_MAGIC,
		V9FS_MAGIC,
	};
	struct statfs status;

	if (fstatfs(fd, &status))
		return 1;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((unsigned)status.f_type == kinds[i])
			return 1;
	return 0;
}

int append_is_alone(int fd)
{
	const int number = lock(fd, LOCK_EX, 0);

	/* A lock that is changed is given up in between, or for good. */
	lock(fd, LOCK_SH, 1);
	if (number == EWOULDBLOCK)
		return 0;
	return number || is_shared(fd) ? -1 : 1;
}
