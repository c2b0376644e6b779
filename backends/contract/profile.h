/*
 * Where an iteration goes, as far as the backend knows: its parts, what work
 * each one is, and when it has ended, or how long a device took for it. The
 * caller has the host's clock.
 */
#ifndef BACKENDS_CONTRACT_PROFILE_H
#define BACKENDS_CONTRACT_PROFILE_H

#define PROFILE_MOST_PARTS 1024

/*
 * A fused step in one direction, or what lies between steps; of a device, a
 * kernel or a transfer. Its numbers are those of the last gradient and the
 * update after it.
 */
struct profile_part {
	char name[40]; /* empty: the program has no such part */
	/* Multiply-adds of the layers' definitions. Those of all parts are
	 * model_work() for each sample. */
	double dense;
	/* Multiply-adds of convolutions and products that were done; not the
	 * additions of Winograd's transforms, nor what a layer does to single
	 * elements. */
	double done;
	/* Moved at least: each value that is read, and each that is written,
	 * once. */
	double bytes;
	/* Share of the factors that the part takes from its input (backward:
	 * from dy) that are neither dropped nor 0; NAN: not counted. */
	double nonzero;
	int launches; /* kernels and transfers given to a device */
};

struct profile_observer {
	/* The part ends now; it began where the one before ended. It may come
	 * more than once in an iteration, and in an evaluation. */
	void (*ended)(struct profile_observer *observer, int part);
	/* A device has worked so long on the part, by its own clock, within
	 * what has not ended otherwise; nothing else did so meanwhile. */
	void (*spent)(struct profile_observer *observer, int part,
		      double elapsed_s);
};

#endif
