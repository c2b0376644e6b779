#include "backends/opencl/device/pocl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "backends/opencl/device/status.h"

#define VARIABLE "POCL_CACHE_DIR"
#define SHOWN 60 /* of a path in a message */
#define KERNELS (1 << 20) /* bytes that a cache should have room for */

/* The user's cache, in the order in which it is looked for. */
static const struct {
	const char *variable, *below;
} places[] = {
	{ "XDG_CACHE_HOME", "" },
	{ "HOME", "/.cache" },
};

/* Our folder in the user's cache; returns the variable that it is from, or
 * NULL. A path that is too long is cut off, and errno says so. */
static const char *own_folder(char path[PATH_MAX])
{
	for (int i = 0; i < COUNT(places); i++) {
		const char *value = getenv(places[i].variable);

		if (!value || value[0] != '/')
			continue;
		errno = snprintf(path, PATH_MAX, "%s%s/bench/pocl", value,
				 places[i].below) < PATH_MAX ?
				0 : ENAMETOOLONG;
		return places[i].variable;
	}
	return NULL;
}

/*
 * Whether path is a folder that can be written, made if need be as PoCL does
 * it: even root cannot make one everywhere, so asking is not enough. errno says
 * why not: of the first folder above it that could not be made.
 */
static int can_write(char *path)
{
	int why = 0;

	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		if (mkdir(path, 0700) && errno != EEXIST && !why)
			why = errno;
		*at = '/';
	}
	if (mkdir(path, 0700) && errno != EEXIST) {
		errno = why ? why : errno;
		return 0;
	}
	return !access(path, W_OK | X_OK);
}

/* Whether nobody else can put something at path, or nothing is there. A link
 * is followed in front of the last name only. */
static int is_ours(const char *path, int last)
{
	struct stat stat_;

	if (last ? lstat(path, &stat_) : stat(path, &stat_))
		return 1;
	return S_ISDIR(stat_.st_mode) && stat_.st_uid == geteuid() &&
	       !(stat_.st_mode & (S_IWGRP | S_IWOTH));
}

int pocl_limit_threads(int cpus, struct error *err)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", cpus);
	if (cpus > 0 && setenv("POCL_MAX_PTHREAD_COUNT", text, 0))
		return error_memory(err, "a variable of PoCL");
	return 0;
}

static int is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && value[0];
}

int cache_choose(struct error *err)
{
	char path[PATH_MAX], *name;
	const char *from;
	int safe;

	/* It would end the process. */
	if (!is_set("PATH"))
		return error_set(err, ERROR_MISSING, "PATH is not set, and "
				 "PoCL needs it to find ld when it compiles "
				 "kernels: PATH=/usr/bin:/bin");
	if (is_set(VARIABLE))
		return 0;
	from = own_folder(path);
	if (!from || errno)
		return error_set(err, ERROR_MISSING, "there is no private "
				 "folder for compiled kernels: %s%s; set HOME, "
				 "or " VARIABLE,
				 from ? from : "XDG_CACHE_HOME and HOME",
				 from ? " is too long" :
					" are not set to absolute paths");
	can_write(path);
	name = strrchr(path, '/');
	*name = '\0';
	safe = is_ours(path, 0);
	*name = '/';
	if (!safe || !is_ours(path, 1))
		return error_set(err, ERROR_MISSING,
				 "the folder for compiled kernels '%.*s%s' "
				 "(from %s) can be accessed by other users; "
				 "fix its permissions, or set "
				 VARIABLE " to one that is",
				 SHOWN, path, strlen(path) > SHOWN ? "..." : "",
				 from);
	return setenv(VARIABLE, path, 1) ?
		       error_memory(err, "a variable of PoCL") : 0;
}

/* The folder that PoCL uses; returns the variable that it is from, or NULL, and
 * sets errno to 0 or to the reason why there is no such folder. */
static const char *used_folder(char path[PATH_MAX])
{
	const char *chosen = getenv(VARIABLE);
	const char *from = own_folder(path);

	if (!chosen || !chosen[0] || (from && !strcmp(chosen, path)))
		return from;
	errno = snprintf(path, PATH_MAX, "%s", chosen) < PATH_MAX ?
			0 : ENAMETOOLONG;
	return VARIABLE;
}

static void folder_describe(char *text, size_t size, const char *path,
			    const char *from, const char *what, const char *why,
			    const char *other)
{
	snprintf(text, size, "its cache folder '%.*s%s' (from %s) %s%s; "
		 "set " VARIABLE " to a folder %s", SHOWN, path,
		 strlen(path) > SHOWN ? "..." : "", from, what, why, other);
}

/* Returns 1 if a file of KERNELS bytes fits into the folder, else 0 and sets
 * errno. */
static int has_room(const char *path)
{
	char name[PATH_MAX];
	int descriptor, failed;

	if (snprintf(name, sizeof(name), "%s/tempfile_XXXXXX", path) >=
	    PATH_MAX)
		return 1;
	descriptor = mkstemp(name);
	if (descriptor < 0)
		return 0;
	failed = posix_fallocate(descriptor, 0, KERNELS);
	close(descriptor);
	unlink(name);
	errno = failed;
	return !failed;
}

void cache_explain(char *text, size_t size)
{
	char path[PATH_MAX] = "";
	const char *from = used_folder(path);

	text[0] = '\0';
	if (from && (errno || !can_write(path) || !has_room(path)))
		folder_describe(text, size, path, from, "cannot be written: ",
				strerror(errno), "that can be written");
}

void cache_refuse(char *text, size_t size)
{
	char path[PATH_MAX] = "";
	const char *from = used_folder(path);
	struct statvfs system;

	text[0] = '\0';
	if (!from || errno || !can_write(path) || statvfs(path, &system))
		return;
	if (!has_room(path) && (errno == ENOSPC || errno == EDQUOT))
		folder_describe(text, size, path, from, "cannot be written: ",
				strerror(errno), "with room");
	else if (system.f_flag & ST_NOEXEC)
		folder_describe(text, size, path, from,
				"is on a file system that is mounted noexec, "
				"where compiled kernels cannot be loaded", "",
				"elsewhere");
}

/* Of what name is in the folder at; 0 for no folder. */
static long entries_below(int at, const char *name)
{
	const int descriptor = openat(at, name, O_RDONLY | O_DIRECTORY |
							O_NOFOLLOW | O_CLOEXEC);
	DIR *folder = descriptor < 0 ? NULL : fdopendir(descriptor);
	const struct dirent *entry;
	long count = 0;

	if (!folder) {
		if (descriptor >= 0)
			close(descriptor);
		return 0;
	}
	while ((entry = readdir(folder))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		/* What PoCL leaves lying about says nothing. */
		count += strncmp(entry->d_name, "tempfile", 8) != 0;
		count += entries_below(descriptor, entry->d_name);
	}
	closedir(folder);
	return count;
}

/* Not by fts_open(), which in glibc 2.36 uses memory that it did not get. */
long cache_entries(void)
{
	const char *path = getenv(VARIABLE);

	return path ? entries_below(AT_FDCWD, path) : -1;
}
