/*
 * `bench measure --profile`: times the parts of one core's iterations. The
 * backend reports the end of each part (backends/contract/profile.h); this
 * module reads the clock.
 *
 * The cost is two calls per part and iteration. The amount of work is counted
 * between iterations, and only in some of them.
 */
#ifndef BENCH_TRAIN_PROFILE_H
#define BENCH_TRAIN_PROFILE_H

#include "backends/parallel/replica.h"
#include "bench/train/profile_rows.h"

struct profile;

/* Identity of the profiled core, copied into the rows. */
struct profile_subject {
	const char *run_id, *target;
	long cores, core;
};

/*
 * Measures the core's peak on this thread, then observes the program. Program
 * and subject must outlive the profile. Returns NULL on failure; ERROR_USAGE if
 * the backend does not support --profile.
 */
struct profile *profile_open(struct program *program,
			     const struct profile_subject *subject,
			     struct error *err);
void profile_close(struct profile *profile); /* NULL is allowed */

/* Call them when an iteration begins, when something ends that belongs to no
 * part (a deliberate delay), and when a phase ends. */
void profile_begin(struct profile *profile);
void profile_end_other(struct profile *profile);
void profile_end_phase(struct profile *profile, enum replica_phase phase);

/* Ends the iteration. Keeps it if it has as many samples as the first one that
 * was kept. */
int profile_keep(struct profile *profile, int samples, struct error *err);

#define PROFILE_MOST_ROWS (PROFILE_MOST_PARTS + 4)

/* Fills rows: the parts, the phases that cores share, the rest, and the sum.
 * Returns their number; 0 if no iteration was kept; -1 on failure. */
int profile_build(const struct profile *profile,
		  struct profile_row rows[PROFILE_MOST_ROWS],
		  struct error *err);

#endif
