/*
 * Files of rows that grow. Lines stay whole even if other processes write, or
 * if a writer is killed. Every failure is ERROR_OUTPUT and names the file and
 * the system's reason.
 */
#ifndef BENCH_SYSTEM_APPEND_H
#define BENCH_SYSTEM_APPEND_H

#include <stddef.h>

#include "backends/contract/error.h"

/* Details of a call. */
struct append_note {
	size_t cut; /* bytes of a torn last line that were removed */
	int busy;   /* 1: failed because another process has or may have the
		       file */
	int stuck;  /* 1: failed, but some rows are in the file */
	int unlocked; /* 1: the file system has no locks */
};

/*
 * Appends rows to path in one write, under a lock, after header if the file is
 * empty. Both end in '\n'. A file with another first line is refused: its rows
 * have other columns. A last line without '\n' is from a killed writer and is
 * removed, as readers skip it. After a failure the file is otherwise unchanged,
 * unless note->stuck is set.
 *
 * If the file system has no locks, other processes may write at the same time.
 * Rows are then appended but never removed: a file with a torn line is refused,
 * and a part of a failed write may remain.
 *
 * While another process has the file, the call fails at once. With wait, it
 * waits until this process is asked to end (bench/system/interrupt.h), and a
 * little longer.
 *
 * The rows survive this process at once, but a crash of the system only after
 * append_sync().
 */
int append_rows(const char *path, const char *header, const char *rows,
		size_t count, int wait, struct append_note *note,
		struct error *err);

/* Waits until the appended rows are on the disk. */
int append_sync(const char *path, struct error *err);

/* Returns 1 if the file has no complete first line, only the start of header or
 * nothing: its writer was killed early. */
int append_is_begun(const char *path, const char *header);

/*
 * Opens path and locks it, after other processes have released it, as
 * append_rows() does. Returns a descriptor that holds the lock until it is
 * closed, or -1.
 */
int append_lock(const char *path);

/*
 * append_share() marks a folder as used until the descriptor is closed; it
 * returns -1 without locks. append_is_alone() returns 1 if no other process
 * uses the folder, 0 if one does. It returns -1 if that is not known: there are
 * no locks, or other hosts do not see them.
 */
int append_share(const char *path);
int append_is_alone(int fd);

#endif
