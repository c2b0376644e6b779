/*
 * Targets whose cores another program starts: with cpu-8@mpi, mpirun starts
 * `bench measure cpu-8@mpi` once for each of them.
 */
#ifndef BENCH_RUN_RANKS_H
#define BENCH_RUN_RANKS_H

#include "backends/group/transport.h"
#include "bench/run/target.h"

/* How many words ranks_words() makes at most, and the NULL behind them. */
#define RANKS_MOST_WORDS 31

/* The words before those of `bench measure`, up to a NULL, with which the
 * target's cores are started; none for other targets. hosts: as a:4,b:4, or
 * NULL: this one. number is room for one of the words. */
void ranks_words(const struct target *target, const char *hosts,
		 const char *words[RANKS_MOST_WORDS], char number[16]);

/* Whether another program starts the target's cores. */
int ranks_are_launched(const struct target *target);

/* How many of the target's cores are on this host: as the launcher has set it,
 * or before, by the first of hosts. */
int ranks_here(const struct target *target, const char *hosts);

/* The first and, behind it, the last of the target's cores that are on a host
 * of hosts, which are filled in turns; 0 if the host is not among them. */
int ranks_of_host(const char *hosts, const char *host, int cores,
		  struct slice *ranks);

/* Which of the target's cores this process is, by what its launcher has set; 0
 * where none starts them. */
int ranks_own(const struct target *target);

/* ERROR_USAGE: the launcher is not there, with the command that would do; or
 * the first of hosts, which is where rows come from, is not this one. */
int ranks_check_launcher(const struct target *target, const char *hosts,
			 struct error *err);

/* The same: no launcher has started this process, or it started another number
 * of cores. */
int ranks_check_started(const struct target *target, struct error *err);

#endif
