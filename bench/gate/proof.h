/*
 * A `bench verify` of one side of a check. What it found right is kept in the
 * user's cache, so that the next check of the same side need not wait: of the
 * same program, options and variables, with the same content in all files that
 * the process had mapped.
 */
#ifndef BENCH_GATE_PROOF_H
#define BENCH_GATE_PROOF_H

#include "bench/gate/check.h"
#include "bench/system/objects.h"
#include "bench/system/process.h"

struct proof {
	/* Set by the caller, all else being 0. */
	const struct check_target *target;
	const struct arm *arm;
	char **words; /* of its command, up to a NULL; for free() */

	char **environment;
	struct objects objects;
	char *question; /* which side it is of; NULL: it cannot be kept */
	char *stamps;	/* of what the program maps, before it is verified */
};

/*
 * Starts the program, which opens its device, to see what it maps now; takes
 * seconds at most. No proof is kept of a program that is a script or reports
 * nothing, nor of cores that another program starts. ERROR_STOPPED after a
 * signal. Close it also after a failure.
 */
int proof_open(struct proof *proof, double seconds, struct error *err);
void proof_close(struct proof *proof);

/* Was the side found right before, as it is now? */
int proof_is_kept(const struct proof *proof);

/* Runs it; then, if all was right, proof_keep(), which fails where something
 * has changed in the meantime, or where the cache cannot be written. */
int proof_run(struct proof *proof, double seconds,
	      struct process_status *status, struct error *err);
int proof_keep(struct proof *proof, struct error *err);

#endif
