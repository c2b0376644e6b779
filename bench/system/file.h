/*
 * Writing results so that nothing old is lost and nothing is half written.
 * Every failure is ERROR_OUTPUT and names the file and the system's reason.
 */
#ifndef BENCH_SYSTEM_FILE_H
#define BENCH_SYSTEM_FILE_H

#include <limits.h>
#include <stddef.h>
#include <stdio.h>

#include "bench/system/memory.h"

/*
 * Makes bytes the whole content of path, or leaves path as it was: they go to
 * a new file beside it that takes its place when it is safely on the disk. A
 * symbolic link stays one, its target is replaced; what is no regular file (a
 * terminal, a pipe, /dev/null) is written straight.
 */
int file_replace(const char *path, const char *bytes, size_t count,
		 struct error *err);

/*
 * The same with what print writes, in pieces. Nothing happens to path if print
 * fails. Where path is no regular file the whole text is kept in memory before
 * its first byte is written; ERROR_FAILED is a lack of memory.
 */
int file_replace_with(const char *path, memory_printer *print,
		      const void *context, struct error *err);

/* Can file_replace write to path? Asked before anything is measured. */
int file_check(const char *path, struct error *err);

/* Makes the folder and those above it; one that is there is fine. */
int file_make_folder(const char *path, struct error *err);

/*
 * A new folder of our own below $TMPDIR or /tmp, whose path, as long as size
 * allows, begins with name. Empty after a failure, which is ERROR_OUTPUT.
 */
int file_make_scratch(char *path, size_t size, const char *name,
		      struct error *err);

/*
 * Removes the folder and all below it, as far as it goes: what cannot be
 * removed stays, and nobody is told. Links are removed, not followed.
 */
void file_remove_tree(const char *path);

/* For names that nobody else has, on this host or another: 32 random bits. */
unsigned file_unique(void);

/* Writes all bytes. Returns 0, or the errno of the first failure. */
int file_write_all(int fd, const char *bytes, size_t count);

/*
 * What was found once and need not be found again: an answer to a question, a
 * pair of texts, in a file of a folder of the user's cache. The SHA-256 of the
 * question names the file, which begins with that of both.
 *
 * The user's cache for us, which ends in /bench, or empty: there is none. What
 * is in it is made by whoever needs it.
 */
void kept_cache(char path[PATH_MAX]);

/*
 * The answer that was kept, for free(). NULL: there is none, or its file is not
 * whole, or another user could have written it.
 */
char *kept_find(const char *folder, const char *question);

/* Keeps an answer in place of an older one; ERROR_OUTPUT where that fails. */
int kept_add(const char *folder, const char *question, const char *answer,
	     struct error *err);

#endif
