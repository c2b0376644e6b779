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
	MODE = 0666,	   /* less the umask */
	OTHER_COLUMNS = -1 /* beside the values of errno */
};

static int append_error(const char *path, int number, struct error *err)
{
	if (number == OTHER_COLUMNS)
		return error_set(err, ERROR_OUTPUT, "cannot add rows to %s: "
				 "its header has other columns than this "
				 "program writes; choose another folder", path);
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

/* Is the beginning of the file that of header, as far as both go? */
static int starts_like(int fd, off_t size, const char *header)
{
	size_t length = strlen(header), at, count;
	char piece[1024];

	if (size < (off_t)length)
		length = (size_t)size;
	for (at = 0; at < length; at += count) {
		count = length - at < sizeof(piece) ? length - at :
						      sizeof(piece);
		if (pread(fd, piece, count, (off_t)at) != (ssize_t)count ||
		    memcmp(piece, header + at, count) != 0)
			return 0;
	}
	return 1;
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
		return OTHER_COLUMNS;
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
	off_t size;
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

int append_mend(const char *path, const char *header,
		struct append_note *note, struct error *err)
{
	int fd, number;
	off_t size;

	*note = (struct append_note){ 0 };
	fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return append_error(path, errno, err);
	number = lock(fd);
	if (!number)
		number = cut_tail(fd, header, &size, note);
	close(fd);
	return number && number != OTHER_COLUMNS ?
		       append_error(path, number, err) : 0;
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
