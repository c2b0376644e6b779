/* For tests: trees of files as systems have them in /proc and /sys. */
#ifndef TESTS_SYSTEMS_H
#define TESTS_SYSTEMS_H

#include "bench/system/file.h"
#include "tests/cmocka.h"
#include "tests/unit/folder.h"

#define GROUPS "proc/self/cgroup"
#define V2 "sys/fs/cgroup/"
#define V1 "sys/fs/cgroup/cpu/"
#define MEMORY1 "sys/fs/cgroup/memory/"

/* The file of this name below the tree, with the folders that it is in. */
static inline void add_file(const char *tree, const char *name,
			    const char *content)
{
	char path[PATH_MAX];
	struct error err;
	char *slash;

	snprintf(path, sizeof(path), "%s/%s", in_folder(tree), name);
	slash = strrchr(path, '/');
	*slash = '\0';
	assert_int_equal(file_make_folder(path, &err), 0);
	*slash = '/';
	write_file(path, content, strlen(content));
}

/* Names and contents in turn; ends with NULL. */
static inline void add_files(const char *tree, const char *const *file)
{
	for (; *file; file += 2)
		add_file(tree, file[0], file[1]);
}

#endif
