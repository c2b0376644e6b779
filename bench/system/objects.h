/*
 * The files that processes map: a program, its libraries, plug-ins and drivers.
 * A process reports its own files at its end; the parent collects the reports.
 */
#ifndef BENCH_SYSTEM_OBJECTS_H
#define BENCH_SYSTEM_OBJECTS_H

#include <stdio.h>

#include "backends/contract/error.h"

/* Appends the paths, one per line, to the file named by BENCH_OBJECTS. Does
 * nothing if the variable is not set. */
void objects_report(void);

/* Reports of some processes. */
struct objects {
	FILE *reports;	   /* a file in memory; NULL = not open */
	char variable[64]; /* NAME=VALUE for their environment */
	char *text;	   /* memory of the paths */
	char **paths;
	size_t count;
};

/* All zero before. Fails with ERROR_FAILED if no file can be made. Close
 * objects also after a failure. */
int objects_open(struct objects *objects, struct error *err);

/* Sets paths to the reports since the last call, sorted, without duplicates.
 * Fails with ERROR_FAILED if the file cannot be read. */
int objects_read(struct objects *objects, struct error *err);
void objects_close(struct objects *objects);

#define OBJECT_STAMP_SIZE 128

/*
 * Writes a text that changes whenever the content of the file does: size,
 * device, inode, and the time that only the system sets. Returns 0. Returns 1
 * if the file has just changed, so that another change may not alter the text.
 * Returns -1, and an empty text, if it is no regular file.
 */
int object_stamp(const char *path, char stamp[OBJECT_STAMP_SIZE]);

#endif
