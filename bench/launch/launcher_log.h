/*
 * What mpirun and its ranks say on standard error. Why a run ended is taken out
 * of it, by the sentences of Open MPI 4; what its blocks of advice say besides
 * is left out, and all other lines are passed on.
 */
#ifndef BENCH_LAUNCH_LAUNCHER_LOG_H
#define BENCH_LAUNCH_LAUNCHER_LOG_H

#include <stddef.h>

/* The first core's line once all have met. */
#define LAUNCHER_LOG_MET "bench: all cores are there"

struct launcher_log {
	const char *hosts; /* of --hosts, or NULL */
	int cores;
	char lost[256];	 /* which core died or host was lost; empty: none */
	char said[400];	 /* else a rank's first failure, or mpirun's */
	int is_ranks;	 /* said is a rank's */
	char other[160]; /* the first line that was passed on */
	char waits[160]; /* whom cores waited for when they were asked, ... */
	int waited_for;	 /* ... and how many these are */
	int met;	 /* whether all cores have been there */

	char line[600], block[1200];
	size_t length; /* of line */
	int in_block;
};

/* Lines that are passed on go to the file with this descriptor. */
void launcher_log_feed(struct launcher_log *log, const char *bytes,
		       size_t count, int to);
/* Behind the last of them, whose line may have no end. */
void launcher_log_end(struct launcher_log *log, int to);

/* The cores have not met for that many seconds: sets log->lost if it is empty.
 */
void launcher_log_unmet(struct launcher_log *log, int seconds);

#endif
