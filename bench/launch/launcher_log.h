/*
 * Reads the standard error of mpirun and its ranks. Finds the cause of a
 * failure by the sentences of Open MPI 4. The rest of its blocks of advice is
 * dropped; all other lines are passed on.
 */
#ifndef BENCH_LAUNCH_LAUNCHER_LOG_H
#define BENCH_LAUNCH_LAUNCHER_LOG_H

#include <stddef.h>

/* Printed by the first core once all cores have met. */
#define LAUNCHER_LOG_MET "bench: all cores are there"

struct launcher_log {
	const char *hosts; /* of --hosts, or NULL */
	int cores;
	char lost[256];	 /* core or host that was lost; empty = none */
	char said[400];	 /* otherwise the first failure that a rank or mpirun
			    reported */
	int is_ranks;	 /* 1 if a rank reported said */
	char reset[256]; /* core that lost its connection, unless lost or a
			    rank's said explains it; empty = none */
	char other[160]; /* first line that was passed on */
	char waits[160]; /* shortest report of a core that waits for others */
	int waited_for;	 /* number of cores named in waits */
	int met;	 /* 1 if all cores have met */

	char line[600], block[1200];
	size_t length; /* bytes of line */
	int in_block;
};

/* Parses output of the launcher, and writes the lines that it passes on to
 * descriptor to. */
void launcher_log_feed(struct launcher_log *log, const char *bytes,
		       size_t count, int to);
/* Ends the log. The last line may lack its end of line. */
void launcher_log_end(struct launcher_log *log, int to);

/* Records that the cores have not met within seconds, unless log->lost has a
 * cause already. */
void launcher_log_unmet(struct launcher_log *log, int seconds);

#endif
