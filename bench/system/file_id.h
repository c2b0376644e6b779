/* Identifies the file that a path leads to. */
#ifndef BENCH_SYSTEM_FILE_ID_H
#define BENCH_SYSTEM_FILE_ID_H

#include <limits.h>
#include <sys/stat.h>

/* An existing file: its device and inode. A file that would be created: device
 * and inode of the last folder that exists, and the names below it. */
struct file_id {
	dev_t device;
	ino_t inode;
	char below[PATH_MAX]; /* empty = the file exists */
};

/* Follows links, including dangling ones. Returns -1 if path leads neither to a
 * regular file nor to a place for one, but to a folder, a device or a pipe. */
int file_identify(const char *path, struct file_id *id);

int file_is_same(const struct file_id *a, const struct file_id *b);

/* Returns 1 if the path names an open file: /dev/stdout, /dev/fd/3.
 * file_replace() appends to such a file and replaces nothing. */
int file_is_special(const char *path);

#endif
