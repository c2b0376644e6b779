/*
 * Data-parallel training above any program, with a sharded optimizer (ZeRO
 * stage 1: Rajbhandari et al. 2019, arXiv 1910.02054). Each rank computes the
 * gradient of its share, sums one slice of all gradients in rank order, makes
 * the optimizer's step of that slice, and then gets the others' parameters.
 * One rank alone is the plain case.
 *
 * Where each program has parameters of its own, n ranks with p floats a vector
 * read n p and write p of gradients in a step, make one update of p for all,
 * and copy (n - 1) p of parameters.
 *
 * Where the programs of a group have one copy of them (shared, in
 * backends/contract/backend.h), none are copied: each rank updates its slice
 * while none computes. And where a weight gradient is a product of less than
 * it is itself, a rank leaves these sufficient factors (Xie et al. 2015, arXiv
 * 1511.08486) instead; after all have, each multiplies those of all ranks for
 * its part of the parameters, and updates it at once. The p of gradients are
 * then only the floats in front, reduced of them: the room for the others
 * stays, and is not written. So it is where ranks have no memory in common and
 * the factors of all are less to send than gradients and parameters: each rank
 * gets them, multiplies the samples of all, and updates all of the parameters
 * that are theirs. That is less to send for more to compute and to update. What
 * is summed as a whole they divide into buckets, and send each of them as soon
 * as the backend says that it is complete, while they compute the rest, as
 * DistributedDataParallel does (Li et al. 2020, arXiv 2006.15704).
 */
#ifndef BACKENDS_PARALLEL_REPLICA_H
#define BACKENDS_PARALLEL_REPLICA_H

#include "backends/contract/backend.h"
#include "backends/parallel/loss_scaler.h"
#include "backends/parallel/transport.h"

enum replica_phase {
	REPLICA_COMPUTE, /* forward, loss and backward, but for products of
			  * factors; with the update, where a program does both
			  * at once */
	REPLICA_WAIT,	 /* until every rank has come so far */
	REPLICA_REDUCE,	 /* the slice's sum over all ranks, and the others'
			  * factors; later their parameters, or nothing where
			  * they are shared */
	REPLICA_UPDATE,	 /* products of factors, the optimizer's step, and
			  * waiting for the device */
	REPLICA_PHASES
};

/*
 * Told when a phase has ended; the harness reads its clocks there. An
 * iteration has them in the order of the enumeration; several ranks then have
 * REPLICA_WAIT and REPLICA_REDUCE once more.
 */
struct replica_observer {
	void (*ended)(struct replica_observer *observer,
		      enum replica_phase phase);
};

/*
 * Opens a device for each rank, one after the other, since libraries set
 * themselves up without locks, and checks them all at once: device_check(),
 * unless as many threads of this process have checked the library before.
 * Every rank calls it with the same request, whose rank and size do not
 * matter.
 */
int replica_open(struct group *group, const struct backend *backend,
		 const struct device_request *request, struct device **device,
		 struct error *err);

/*
 * Compiles a program whose vectors all ranks see, where they have memory in
 * common. Every rank calls it with the same model and options, of which memory
 * and what follows from the group are set here. Devices are compiled for one
 * after the other: drivers keep the kernels of the first for the others, and
 * PoCL 3.1 may abort where two threads compile the same ones at once.
 */
int replica_compile(struct group *group, struct device *device,
		    const struct model *model,
		    const struct program_options *options,
		    struct program **program, struct error *err);

/*
 * One iteration. The scaler is NULL where the loss is not scaled. score becomes
 * the rank's own share. A device that works in
 * the background is waited for at the end only, so that its phases are known
 * as one, unless the group makes it meet others in between.
 *
 * Afterwards all ranks have the same parameters; gradient and the optimizer's
 * state, unless it is shared, are those of the whole batch in the rank's slices
 * of the floats that are reduced only, one a bucket. The ranks meet
 * (group_gather) before one of them stores parameters.
 */
int replica_train(struct group *group, struct program *program,
		  const struct batch *batch, const struct update *update,
		  struct loss_scaler *scaler,
		  struct replica_observer *observer, struct score *score,
		  struct error *err);

/*
 * Stores the same values in every rank; where all share one copy, the first
 * rank does, and they meet afterwards. Every rank calls it, and they meet
 * before.
 */
int replica_store(struct group *group, struct program *program,
		  enum vector which, const float *values, struct error *err);

/* What a training begins with: these parameters and buffers, which without any
 * may be NULL, and a fresh optimizer. Every rank calls it with the same; group:
 * NULL, of a program that is alone. */
int replica_begin(struct group *group, struct program *program,
		  const float *parameters, const float *buffers,
		  struct error *err);

/* The same with seeded parameters, and running statistics of nothing yet. */
int replica_initialise(struct group *group, struct program *program,
		       unsigned long long seed, struct error *err);

/* What each rank knows of a vector in its slice becomes known to all; for the
 * optimizer's state, and a gradient that is summed as a whole. Every rank calls
 * it, and they meet before one of them stores or trains. */
int replica_gather(struct group *group, struct program *program,
		   enum vector which, struct error *err);

/*
 * The places of a global batch that rank works on are rank, rank + size, ...:
 * how many of the first count they are.
 */
int replica_share(int rank, int size, int count);

#endif
