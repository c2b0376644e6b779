/*
 * Files of rows that grow: whole lines only, whoever else writes or is killed.
 * Every failure is ERROR_OUTPUT and names the file and the system's reason.
 */
#ifndef BENCH_SYSTEM_APPEND_H
#define BENCH_SYSTEM_APPEND_H

#include <stddef.h>

#include "backends/contract/error.h"

/* What happened besides. */
struct append_note {
	size_t cut; /* bytes of a torn last line, taken away */
	int busy;   /* the failure: another process has the file, or may */
	int stuck;  /* rows are in the file in part, in spite of a failure */
	int unlocked; /* the file system has no locks */
};

/*
 * Adds rows at the end of path, under a lock, in one write, and header before
 * them if the file is empty. Both end in '\n'. A file that starts with another
 * first line is refused: its rows have other columns. A last line without its
 * '\n' is what a killed writer left behind, and is cut off, as readers pass
 * over it. After a failure the file is as it was but for that, unless the note
 * says that rows got stuck in it.
 *
 * Where the file system has no locks, and others may write at this moment, rows
 * are added all the same, but none are taken away: a file with a torn line is
 * refused, and of a failed write some may stay.
 *
 * While another process has the file this one fails at once, or, with wait,
 * only if it is told to end (bench/system/interrupt.h) and has waited some
 * more.
 *
 * The rows outlive this process at once, the system only after append_sync().
 */
int append_rows(const char *path, const char *header, const char *rows,
		size_t count, int wait, struct append_note *note,
		struct error *err);

/* Waits until what was added is safely on the disk. */
int append_sync(const char *path, struct error *err);

/* Whether the file has no whole first line yet, only what header begins with or
 * nothing at all: its writer was killed at once. */
int append_is_begun(const char *path, const char *header);

/* Waits in the same way until no other process has path, and keeps them out
 * until the descriptor is closed; -1 if that cannot be. */
int append_lock(const char *path);

/*
 * For who reads a file and replaces it by what it has made of that: until the
 * guard is released other processes that do the same wait, in the same way. It
 * is a lock on a file beside it, .NAME.lock, because the file itself will be
 * another one; without locks, or for what is no file, there is none. Fails when
 * we are told to end while another process has it.
 */
struct append_guard {
	char path[4096];
	int fd; /* -1: none */
};
int append_guard(struct append_guard *guard, const char *path,
		 struct error *err);
void append_guard_release(struct append_guard *guard);

/*
 * A folder that is in use until the descriptor is closed, or -1 without locks;
 * and whether no other process uses it: 1; 0: one does; -1: nobody knows, since
 * there are no locks, or other hosts do not see ours.
 */
int append_share(const char *path);
int append_is_alone(int fd);

#endif
