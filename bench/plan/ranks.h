/*
 * Targets whose cores another program starts: with cpu-8@mpi, mpirun starts
 * `bench measure cpu-8@mpi` once for each of them.
 */
#ifndef BENCH_PLAN_RANKS_H
#define BENCH_PLAN_RANKS_H

#include "backends/parallel/transport.h"
#include "bench/plan/target.h"

/*
 * Returns argv, a command line that ends with NULL, preceded by the launcher's
 * words if a launcher starts the target's cores. target may be NULL: no
 * launcher. hosts is a:4,b:4, or NULL for this host. The caller frees the
 * array; its words belong to argv, to the environment and to number, which this
 * function fills. Returns NULL if there is no memory.
 */
const char **ranks_command(const struct target *target, const char *hosts,
			   const char *const *argv, char number[16],
			   struct error *err);

/* Returns 1 if another program starts the target's cores. */
int ranks_are_launched(const struct target *target);

/* Returns the number of the target's cores on this host: the launcher's value.
 * Before the launcher starts, it returns the slots of the first of hosts, or
 * all cores without hosts. */
int ranks_here(const struct target *target, const char *hosts);

/* Sets ranks to the target's cores on the host of this name, or on the first
 * host if name is NULL. ranks->to is one past the last. Returns 0 if hosts does
 * not have the name. */
int ranks_of_host(const char *hosts, const char *name, int cores,
		  struct slice *ranks);

/* Returns the rank of this process, which the launcher has set; 0 if no
 * launcher started it. */
int ranks_own(const struct target *target);

/* Fails with ERROR_USAGE if the launcher is missing; the message has the
 * command that would work. Fails with ERROR_USAGE if an entry of hosts is
 * invalid, or if they have too few slots. The first host prints the rows, and
 * must be this one. Fails with ERROR_MISSING if the launcher is another program
 * of that name. */
int ranks_check_launcher(const struct target *target, const char *hosts,
			 struct error *err);

/* Fails with ERROR_USAGE if no launcher started this process, or if it started
 * another number of cores. */
int ranks_check_started(const struct target *target, struct error *err);

#endif
