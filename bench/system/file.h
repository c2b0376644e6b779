/* Writes results so that nothing old is lost and nothing is half written. Every
 * failure is ERROR_OUTPUT and names the file and the system's reason. */
#ifndef BENCH_SYSTEM_FILE_H
#define BENCH_SYSTEM_FILE_H

#include <limits.h>
#include <stddef.h>
#include <stdio.h>

#include "bench/system/memory.h"

/*
 * Replaces the content of path by bytes, or leaves path unchanged. The bytes go
 * to a new file in the same folder, which is renamed once it is on the disk. A
 * symbolic link stays, and its target is replaced. A terminal, a pipe or
 * /dev/null is written directly.
 */
int file_replace(const char *path, const char *bytes, size_t count,
		 struct error *err);

/*
 * Replaces the content by the output of print. path is unchanged if print
 * fails. If path is no regular file, the whole output is kept in memory before
 * its first byte is written. ERROR_FAILED means a lack of memory.
 */
int file_replace_with(const char *path, memory_printer *print,
		      const void *context, struct error *err);

/* Fails if file_replace() could not write to path. Call it before measuring. */
int file_check(const char *path, struct error *err);

/* Creates the folder and its parents. It may exist. */
int file_make_folder(const char *path, struct error *err);

/*
 * Creates a folder of our own below $TMPDIR or /tmp, and writes its path, which
 * begins with name if size allows. Fails with ERROR_OUTPUT; path is then empty.
 */
int file_make_scratch(char *path, size_t size, const char *name,
		      struct error *err);

/* Removes the folder and everything below it. Files that cannot be removed
 * stay, without an error. Links are removed, not followed. */
void file_remove_tree(const char *path);

/* Returns 32 random bits, for names that are unique on all hosts. */
unsigned file_unique(void);

/* Writes all bytes. Returns 0, or errno of the first failure. */
int file_write_all(int fd, const char *bytes, size_t count);

/*
 * A cache of answers to questions: pairs of texts, one file per pair, in a
 * folder of the user's cache. The file's name is the SHA-256 of the question;
 * the file begins with the SHA-256 of both.
 *
 * kept_cache() returns the user's cache for this program, which ends in /bench;
 * empty if there is none. Its users create what they need in it.
 */
void kept_cache(char path[PATH_MAX]);

/* Returns the answer, which the caller frees. Returns NULL if there is none, if
 * its file is damaged, or if another user could have written it. */
char *kept_find(const char *folder, const char *question);

/* Stores an answer and replaces an older one. Fails with ERROR_OUTPUT. */
int kept_add(const char *folder, const char *question, const char *answer,
	     struct error *err);

#endif
