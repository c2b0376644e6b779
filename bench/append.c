#include "bench/append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/file.h"

enum {
	MODE = 0666,	    /* less the umask */
	OTHER_COLUMNS = -1, /* beside the values of errno */
	OTHER_FORM = -2
};

static int append_error(const char *path, int number, struct error *err)
{
	if (number == OTHER_COLUMNS)
		return error_set(err, ERROR_OUTPUT, "cannot add rows to %s: "
				 "its header has other columns than this "
				 "program writes; choose another folder", path);
	if (number == OTHER_FORM)
		return error_set(err, ERROR_OUTPUT, "cannot add rows to %s: "
				 "it was saved with a byte-order mark or with "
				 "line ends of another system; save it as "
				 "UTF-8 with LF alone, or choose another "
				 "folder", path);
	return error_set(err, ERROR_OUTPUT, "cannot write %s: %s", path,
			 strerror(number));
}

static int lock(int fd)
{
	int number;

	do
		number = flock(fd, LOCK_EX) ? errno : 0;
	while (number == EINTR);
	return number;
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

/* Is the beginning of the file that of header, as far as both go? */
static int starts_like(int fd, off_t size, const char *header)
{
	const size_t length = strlen(header);

	return has_bytes(fd, 0, header, size < (off_t)length ? (size_t)size :
							       length);
}

/* Why a file does not start like header: its columns may be the same. */
static int find_difference(int fd, const char *header)
{
	const size_t mark = has_bytes(fd, 0, "\xEF\xBB\xBF", 3) ? 3 : 0;
	const size_t length = strlen(header) - 1;

	return has_bytes(fd, (off_t)mark, header, length) &&
	       (mark || has_bytes(fd, (off_t)length, "\r\n", 2)) ?
		       OTHER_FORM : OTHER_COLUMNS;
}

/* Where the last whole line of the file ends. Returns an errno. */
static int find_end(int fd, off_t size, off_t *end)
{
	char bytes[4096];
	ssize_t count, i;

	for (*end = size; *end > 0; *end -= count) {
		count = *end < (off_t)sizeof(bytes) ? (ssize_t)*end :
						      (ssize_t)sizeof(bytes);
		if (pread(fd, bytes, (size_t)count, *end - count) != count)
			return errno ? errno : EIO;
		for (i = count; i > 0; i--)
			if (bytes[i - 1] == '\n') {
				*end -= count - i;
				return 0;
			}
	}
	return 0;
}

/* With the lock: *size becomes that of the whole lines. Only a file of ours is
 * touched. Returns an errno. */
static int cut_tail(int fd, const char *header, off_t *size,
		    struct append_note *note)
{
	struct stat status;
	off_t end;
	int number;

	*note = (struct append_note){ 0 };
	if (fstat(fd, &status))
		return errno;
	*size = status.st_size;
	if (!S_ISREG(status.st_mode) || *size == 0)
		return 0;
	if (!starts_like(fd, *size, header))
		return find_difference(fd, header);
	errno = 0;
	number = find_end(fd, *size, &end);
	if (number || end == *size)
		return number;
	if (ftruncate(fd, end))
		return errno;
	note->cut = (size_t)(*size - end);
	*size = end;
	return 0;
}

/* Returns an errno; what was written in part is taken back. */
static int append_locked(int fd, const char *header, const char *rows,
			 size_t count, struct append_note *note)
{
	size_t before = strlen(header);
	char *bytes;
	off_t size = 0;
	int number = cut_tail(fd, header, &size, note);

	if (number)
		return number;
	before = size == 0 ? before : 0;
	bytes = malloc(before + count + 1);
	if (!bytes)
		return ENOMEM;
	memcpy(bytes, header, before);
	memcpy(bytes + before, rows, count);
	number = file_write_all(fd, bytes, before + count);
	free(bytes);
	if (number)
		note->stuck = ftruncate(fd, size) != 0;
	return number;
}

int append_rows(const char *path, const char *header, const char *rows,
		size_t count, struct append_note *note, struct error *err)
{
	int fd, number;

	*note = (struct append_note){ 0 };
	fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOCTTY | O_CLOEXEC,
		  MODE);
	if (fd < 0)
		return append_error(path, errno, err);
	number = lock(fd);
	if (!number)
		number = append_locked(fd, header, rows, count, note);
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
	/* What is no file has nothing to wait for. */
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

	/* What is no file is not even opened: somebody may hear of it. */
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

int append_lock_folder(const char *path)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && lock(fd)) {
		close(fd);
		return -1;
	}
	return fd;
}
