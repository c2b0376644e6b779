/*
 * The files that processes map for themselves: a program, its libraries, and
 * what it opens as plug-ins and drivers. A process reports its own ones at its
 * end; the parent collects the reports.
 */
#ifndef BENCH_SYSTEM_OBJECTS_H
#define BENCH_SYSTEM_OBJECTS_H

#include <stdio.h>

#include "backends/contract/error.h"

/* Adds the paths, one a line, to the file that BENCH_OBJECTS names; does
 * nothing where the variable is not set. */
void objects_report(void);

/* What some processes have reported. */
struct objects {
	FILE *reports;	   /* a file in memory; NULL: not open */
	char variable[64]; /* for their environment */
	char *text;	   /* that the paths are in */
	char **paths;
	size_t count;
};

/* All zero before. ERROR_FAILED where no file can be made. To be closed after
 * a failure, too. */
int objects_open(struct objects *objects, struct error *err);

/* Makes paths those that were reported since the last call, sorted, each once.
 * ERROR_FAILED where the file cannot be read. */
int objects_read(struct objects *objects, struct error *err);
void objects_close(struct objects *objects);

#define OBJECT_STAMP_SIZE 128

/*
 * A text that changes whenever the content of the file does: size, device,
 * inode, and the time that only the system sets. Returns -1 and an empty text
 * for what is no regular file; 1 for a file that has just changed, since
 * another change now might leave the text as it is; else 0.
 */
int object_stamp(const char *path, char stamp[OBJECT_STAMP_SIZE]);

#endif
