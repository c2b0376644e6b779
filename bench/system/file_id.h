/* Which file a path leads to, whatever it is called. */
#ifndef BENCH_SYSTEM_FILE_ID_H
#define BENCH_SYSTEM_FILE_ID_H

#include <limits.h>
#include <sys/stat.h>

/*
 * A file that exists: its device and inode. A file that would be made: device
 * and inode of the last folder that exists, and the names below it.
 */
struct file_id {
	dev_t device;
	ino_t inode;
	char below[PATH_MAX]; /* empty: the file exists */
};

/*
 * Follows links, dangling ones too. Returns 0, or -1 where path leads to no
 * regular file and to no place for one: a folder, a device, a pipe.
 */
int file_identify(const char *path, struct file_id *id);

int file_is_same(const struct file_id *a, const struct file_id *b);

/* Whether the system chooses the file by what is open: /dev/stdout, /dev/fd/3.
 * file_replace() adds to such a file and replaces nothing. */
int file_is_special(const char *path);

#endif
