#include "bench/system/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int small_file_read(const char *path, char *text, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t at = 0;
	ssize_t count = 1;

	text[0] = '\0';
	if (fd < 0)
		return -1;
	while (at < size - 1 && count) {
		count = read(fd, text + at, size - 1 - at);
		if (count < 0 && errno != EINTR)
			break;
		at += count > 0 ? (size_t)count : 0;
	}
	close(fd);
	text[at] = '\0';
	return at ? 0 : -1;
}

const char *small_file_line(const char *text, const char *key)
{
	const size_t length = strlen(key);

	while (*text && strncmp(text, key, length)) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return *text ? text + length : NULL;
}
