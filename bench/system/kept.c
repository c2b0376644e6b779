#include "bench/system/kept.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/system/hash.h"
#include "bench/system/file.h"

/* The XDG Base Directory Specification ignores relative ones. */
void kept_cache(char path[PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int written = 0;

	if (cache && *cache == '/')
		written = snprintf(path, PATH_MAX, "%s/bench", cache);
	else if (home && *home)
		written = snprintf(path, PATH_MAX, "%s/.cache/bench", home);
	if (written <= 0 || written >= PATH_MAX)
		path[0] = '\0';
}

/* The folder and, below it, the file of this text; -1: there is none. */
static int find_place(const char *folder, const char *text,
		      char dir[PATH_MAX], char path[PATH_MAX])
{
	char cache[PATH_MAX], hex[HASH_SHA256_SIZE];

	kept_cache(cache);
	hash_sha256(NULL, 0, text, strlen(text), hex);
	return cache[0] &&
			       snprintf(dir, PATH_MAX, "%s/%s", cache,
					folder) < PATH_MAX &&
			       snprintf(path, PATH_MAX, "%s/%s", dir, hex) <
				       PATH_MAX ?
		       0 : -1;
}

static int is_ours(int fd, size_t size)
{
	struct stat about;

	return !fstat(fd, &about) && S_ISREG(about.st_mode) &&
	       about.st_uid == geteuid() &&
	       !(about.st_mode & (S_IWGRP | S_IWOTH)) &&
	       about.st_size == (off_t)size;
}

/* Whether there is nothing else in it. */
static int holds(int fd, const char *text, size_t size)
{
	char bytes[4096];
	size_t at = 0;

	while (at < size) {
		const ssize_t count = read(fd, bytes, sizeof(bytes));

		if (count <= 0 || (size_t)count > size - at ||
		    memcmp(bytes, text + at, (size_t)count))
			return 0;
		at += (size_t)count;
	}
	return 1;
}

int kept_has(const char *folder, const char *text)
{
	const size_t size = strlen(text);
	char dir[PATH_MAX], path[PATH_MAX];
	int fd, found;

	if (find_place(folder, text, dir, path))
		return 0;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	found = is_ours(fd, size) && holds(fd, text, size);
	close(fd);
	return found;
}

int kept_add(const char *folder, const char *text, struct error *err)
{
	char dir[PATH_MAX], path[PATH_MAX];

	if (find_place(folder, text, dir, path))
		return error_set(err, ERROR_OUTPUT, "there is no folder for "
				 "it: neither XDG_CACHE_HOME nor HOME names "
				 "one");
	if (file_make_folder(dir, err))
		return -1;
	/* Whatever has the name counts for nothing, link or not. */
	unlink(path);
	if (file_replace(path, text, strlen(text), err))
		return -1;
	/* Where the umask lets others write it would not count either. */
	if (chmod(path, S_IRUSR | S_IWUSR))
		return error_set(err, ERROR_OUTPUT, "cannot write %.900s",
				 path);
	return 0;
}
