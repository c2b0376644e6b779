/*
 * Memory that all ranks of MPI have in common where they are on one host: one
 * window for each time that they ask for some together, to which each adds its
 * part. All of a window is 0 at first, and lies at another address in each
 * rank.
 */
#ifndef BACKENDS_MPI_WINDOWS_H
#define BACKENDS_MPI_WINDOWS_H

#include <mpi.h>
#include <stddef.h>

#include "backends/contract/error.h"
#include "backends/parallel/transport.h"

struct window;

struct windows {
	struct window *last; /* that was added; NULL: none */
	struct window *next; /* prepared for windows_add() */
	MPI_Comm ranks;
	int rank, size; /* GROUP_MAX_SIZE at most */
};

/* Whether all ranks of MPI_COMM_WORLD are on one host; they ask together. */
int windows_one_host(void);

/* What may fail on one rank alone, before windows_add(). */
int windows_prepare(struct windows *windows, struct error *err);
/*
 * bytes of this rank's part, which may be 0. Returns the owner's part, as it is
 * seen here, on a whole line of the cache. All ranks call it, or none; what
 * they find is 0 once each of them has returned. A lack of shared memory ends
 * all ranks.
 */
void *windows_add(struct windows *windows, size_t bytes, int owner);

/* Where all ranks' vectors are that lie where values does in the own part;
 * 0: values is in no window. */
int windows_find(const struct windows *windows, const float *values,
		 float *theirs[GROUP_MAX_SIZE]);

/* All ranks call it, with as many windows, or none. */
void windows_release(struct windows *windows);

#endif
