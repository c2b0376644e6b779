/*
 * Shared memory of all ranks of MPI on one host. Each collective request makes
 * one window, to which each rank adds its part. A window is initially 0, and
 * has another address in each rank.
 */
#ifndef BACKENDS_MPI_WINDOWS_H
#define BACKENDS_MPI_WINDOWS_H

#include <mpi.h>
#include <stddef.h>

#include "backends/contract/error.h"
#include "backends/parallel/transport.h"

struct window;

struct windows {
	struct window *last; /* added last; NULL = none */
	struct window *next; /* prepared for windows_add() */
	MPI_Comm ranks;
	int rank, size; /* at most GROUP_MAX_SIZE */
};

/* Returns 1 if all ranks of MPI_COMM_WORLD are on one host; every rank must
 * call it. */
int windows_one_host(void);

/* Does what may fail in one rank alone, before windows_add(). Returns 0, or -1
 * with err. */
int windows_prepare(struct windows *windows, struct error *err);
/*
 * Adds a window with bytes, which may be 0, of this rank. Returns owner's part
 * as this rank sees it, aligned to a cache line. All ranks must call it, or
 * none; the memory is 0 once each has returned. A lack of shared memory ends
 * all ranks.
 */
void *windows_add(struct windows *windows, size_t bytes, int owner);

/* Sets theirs to the vectors at values' place in all ranks' parts and returns
 * 1; returns 0 if values is in no window. */
int windows_find(const struct windows *windows, const float *values,
		 float *theirs[GROUP_MAX_SIZE]);

/*
 * Releases all windows. All ranks call it, with equally many windows, or none.
 */
void windows_release(struct windows *windows);

#endif
