/*
 * A `bench verify` of one side of a check. A success is kept in the user's
 * cache for the next check of the same side. It is the same side if program,
 * options, variables and the content of all mapped files are equal.
 */
#ifndef BENCH_GATE_PROOF_H
#define BENCH_GATE_PROOF_H

#include "bench/gate/check.h"
#include "bench/system/objects.h"
#include "bench/system/process.h"

struct proof {
	/* Set by the caller; all other fields must be 0. */
	const struct check_target *target;
	const struct arm *arm;
	char **words; /* command; ends with NULL; freed by proof_close() */

	char **environment;
	struct objects objects;
	char *question; /* cache key; NULL = cannot be cached */
	char *stamps; /* stamps of the mapped files, before the verification */
};

/*
 * Starts the program, which opens its device, to list the files that it maps.
 * Takes at most this many seconds. Scripts, programs that do not report their
 * files, and targets whose cores a launcher starts are not cached. Fails with
 * ERROR_STOPPED after a signal. Close proof also after a failure.
 */
int proof_open(struct proof *proof, double seconds, struct error *err);
void proof_close(struct proof *proof);

/* Returns 1 if the cache has a success of this side in its present state. */
int proof_is_kept(const struct proof *proof);

/* proof_run() verifies the side. After a success, call proof_keep(): it fails
 * if a file has changed in the meantime, or if the cache cannot be written. */
int proof_run(struct proof *proof, double seconds,
	      struct process_status *status, struct error *err);
int proof_keep(struct proof *proof, struct error *err);

#endif
