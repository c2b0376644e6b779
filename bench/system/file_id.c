#include "bench/system/file_id.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINKS = 40 }; /* as the kernel follows */

int file_is_special(const char *path)
{
	static const char *const names[] = { "/dev/stdin", "/dev/stdout",
					     "/dev/stderr" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(path, names[i]))
			return 1;
	return strncmp(path, "/dev/fd/", 8) == 0 ||
	       strncmp(path, "/proc/", 6) == 0;
}

/* Moves the last name of path, without its slashes, to name. */
static void cut_name(char path[PATH_MAX], char name[PATH_MAX])
{
	size_t end = strlen(path), begin;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (begin = end; begin && path[begin - 1] != '/';)
		begin--;
	snprintf(name, PATH_MAX, "%.*s", (int)(end - begin), path + begin);
	while (begin > 1 && path[begin - 1] == '/')
		begin--;
	snprintf(path + begin, PATH_MAX - begin, "%s", begin ? "" : ".");
}

/* Puts the target of the link at path, which dangles, in its place. */
static int follow_link(char path[PATH_MAX])
{
	char target[PATH_MAX], folder[PATH_MAX], name[PATH_MAX];
	const ssize_t length = readlink(path, target, sizeof(target));

	if (length <= 0 || length >= PATH_MAX)
		return -1;
	target[length] = '\0';
	memcpy(folder, path, PATH_MAX);
	cut_name(folder, name);
	return snprintf(path, PATH_MAX, "%s%s%s",
			target[0] == '/' ? "" : folder,
			target[0] == '/' ? "" : "/", target) >= PATH_MAX ?
		       -1 : 0;
}

/* Moves the last name of path to the front of below. */
static int step_up(char path[PATH_MAX], char below[PATH_MAX])
{
	char name[PATH_MAX], rest[PATH_MAX];

	if (!strcmp(path, ".") || !strcmp(path, "/"))
		return -1;
	memcpy(rest, below, PATH_MAX);
	cut_name(path, name);
	if (!strcmp(name, "."))
		return 0;
	return snprintf(below, PATH_MAX, "%s%s%s", name, *rest ? "/" : "",
			rest) >= PATH_MAX ? -1 : 0;
}

int file_identify(const char *path, struct file_id *id)
{
	char at[PATH_MAX];
	struct stat status;
	int links = 0;

	*id = (struct file_id){ 0 };
	if (!*path || snprintf(at, sizeof(at), "%s", path) >= PATH_MAX)
		return -1;
	while (stat(at, &status)) {
		if (errno != ENOENT)
			return -1;
		if (lstat(at, &status) == 0 ?
			    ++links > MOST_LINKS || follow_link(at) :
			    step_up(at, id->below))
			return -1;
	}
	id->device = status.st_dev;
	id->inode = status.st_ino;
	return (*id->below ? S_ISDIR(status.st_mode) :
			     S_ISREG(status.st_mode)) ? 0 : -1;
}

int file_is_same(const struct file_id *a, const struct file_id *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       !strcmp(a->below, b->below);
}
