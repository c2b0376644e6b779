/*
 * Targets whose cores another program starts: with cpu-8@mpi, mpirun starts
 * `bench measure cpu-8@mpi` once for each of them.
 */
#ifndef BENCH_PLAN_RANKS_H
#define BENCH_PLAN_RANKS_H

#include "backends/parallel/transport.h"
#include "bench/plan/target.h"

/*
 * The words that start argv, a bench with arguments up to a NULL: behind those
 * of the program that starts the target's cores, or alone for other targets and
 * NULL. hosts: as a:4,b:4, or NULL: this one. A block for free(), whose words
 * are argv's, the environment's and number, which is room for one. NULL: no
 * memory.
 */
const char **ranks_command(const struct target *target, const char *hosts,
			   const char *const *argv, char number[16],
			   struct error *err);

/* Whether another program starts the target's cores. */
int ranks_are_launched(const struct target *target);

/* How many of the target's cores are on this host: as the launcher has set it,
 * or before, by the first of hosts. */
int ranks_here(const struct target *target, const char *hosts);

/* The first and, behind it, the last of the target's cores that are on the host
 * of this name, or on the first one for NULL; 0 if it is not among hosts. */
int ranks_of_host(const char *hosts, const char *name, int cores,
		  struct slice *ranks);

/* Which of the target's cores this process is, by what its launcher has set; 0
 * where none starts them. */
int ranks_own(const struct target *target);

/* ERROR_USAGE: the launcher is not there, with the command that would do; an
 * entry of hosts is none, or they have too few slots; or the first of them,
 * which is where rows come from, is not this one. ERROR_MISSING: the launcher
 * is another program of that name. */
int ranks_check_launcher(const struct target *target, const char *hosts,
			 struct error *err);

/* The same: no launcher has started this process, or it started another number
 * of cores. */
int ranks_check_started(const struct target *target, struct error *err);

#endif
