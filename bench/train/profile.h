/*
 * Where the iterations of one core go: `bench measure --profile`. The backend
 * says which of its parts has ended (backends/contract/profile.h), we read the
 * clock.
 *
 * Two calls a part and iteration are all that it costs; what has been done is
 * asked for between iterations, and only now and then.
 */
#ifndef BENCH_TRAIN_PROFILE_H
#define BENCH_TRAIN_PROFILE_H

#include "backends/parallel/replica.h"
#include "bench/train/profile_rows.h"

struct profile;

/* Whose parts: what the rows say of themselves. */
struct profile_subject {
	const char *run_id, *target;
	long cores, core;
};

/*
 * Measures the core's peak first, on this thread. Program and subject stay
 * while the profile does; NULL on failure, which for a backend that does not
 * support --profile is ERROR_USAGE.
 */
struct profile *profile_open(struct program *program,
			     const struct profile_subject *subject,
			     struct error *err);
void profile_close(struct profile *profile); /* NULL is fine */

/* An iteration begins now; something ends that is no part of it, such as being
 * slow on purpose; one of its phases ends. */
void profile_begin(struct profile *profile);
void profile_end_other(struct profile *profile);
void profile_end_phase(struct profile *profile, enum replica_phase phase);

/*
 * The iteration ends now, and is kept if it had as many samples as the first
 * one that was.
 */
int profile_keep(struct profile *profile, int samples, struct error *err);

#define PROFILE_MOST_ROWS (PROFILE_MOST_PARTS + 4)

/* The parts, what the cores do together, the rest, and the sum; returns how
 * many rows, 0 if no iteration was kept; -1 on failure. */
int profile_build(const struct profile *profile,
		  struct profile_row rows[PROFILE_MOST_ROWS],
		  struct error *err);

#endif
