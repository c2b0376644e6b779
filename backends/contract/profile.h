/* Profile of an iteration: its parts, the work of each, and when it ended or
 * how long a device took for it. The caller has the host's clock. */
#ifndef BACKENDS_CONTRACT_PROFILE_H
#define BACKENDS_CONTRACT_PROFILE_H

#define PROFILE_MOST_PARTS 1024

/* A fused step in one direction, or work between steps; on a device, a kernel
 * or a transfer. Numbers are of the last gradient and the update after it. */
struct profile_part {
	char name[40]; /* empty = the program has no such part */
	/* Multiply-adds of the layers' definitions. Over all parts they sum to
	 * model_work() per sample. */
	double dense;
	/*
	 * Multiply-adds done in convolutions and matrix products; without the
	 * additions of Winograd's transforms and without elementwise
	 * operations.
	 */
	double done;
	/*
	 * Bytes moved at least: each value read and each value written, once.
	 */
	double bytes;
	/* Share of the part's input factors (backward: of dy) that are neither
	 * dropped nor 0; NAN = not counted. */
	double nonzero;
	int launches; /* kernels and transfers given to a device */
};

struct profile_observer {
	/* The part ends now; it began when the one before it ended. Called for
	 * a part once or more per iteration, and in evaluations. */
	void (*ended)(struct profile_observer *observer, int part);
	/*
	 * A device has worked elapsed_s on the part, by its own clock, and on
	 * nothing else meanwhile. The time is within the part that has not yet
	 * ended.
	 */
	void (*spent)(struct profile_observer *observer, int part,
		      double elapsed_s);
};

#endif
