/* For tests: a temporary folder, and files in it. */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char folder[PATH_MAX - 300]; /* of this test program */

static inline int folder_make(void **state)
{
	const char *parent = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/bench-test-XXXXXX",
		 parent && *parent ? parent : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *about,
			     int kind, struct FTW *where)
{
	(void)about, (void)kind, (void)where;
	return remove(path);
}

static inline int folder_remove(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The path of name in the folder; valid until the eighth call after it. */
static inline const char *in_folder(const char *name)
{
	static char paths[8][PATH_MAX];
	static int next;
	char *path = paths[next++ % 8];

	snprintf(path, PATH_MAX, "%s/%.290s", folder, name);
	return path;
}

static inline void write_file(const char *path, const void *bytes,
			      size_t count)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(bytes, 1, count, file) != count || fclose(file))
		perror(path);
}

#endif
