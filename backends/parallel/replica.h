/*
 * Data-parallel training above any backend, with a sharded optimizer (ZeRO
 * stage 1: Rajbhandari et al. 2019, arXiv 1910.02054). Each rank computes the
 * gradient of its share. It sums one slice of all ranks' gradients in rank
 * order, makes the optimizer's step of that slice, and then gets the other
 * slices' parameters. One rank alone is the plain case.
 *
 * If each program has its own parameters, n ranks with p floats per vector read
 * n p and write p floats of gradients per step. They update p parameters in
 * all, and copy (n - 1) p.
 *
 * If a group's programs share one copy of the parameters (shared in
 * backends/contract/program.h), none are copied. Each rank updates its slice
 * while none computes.
 *
 * A weight gradient may be a product of factors smaller than itself. A rank
 * then leaves these sufficient factors instead (Xie et al. 2015, arXiv
 * 1511.08486). After all ranks have, each multiplies the factors of all ranks
 * for its part of the parameters, and updates that at once. Only the first
 * reduced floats of the gradient are then summed.
 *
 * Ranks without shared memory exchange factors if these are smaller than
 * gradients and parameters together. Each rank then multiplies all samples'
 * factors, and updates all parameters that depend on them: less to send, more
 * to compute. The rest of the gradient is summed in buckets. Each bucket is
 * sent as soon as the backend reports it complete, while the rank computes the
 * others, as DistributedDataParallel does (Li et al. 2020, arXiv 2006.15704).
 */
#ifndef BACKENDS_PARALLEL_REPLICA_H
#define BACKENDS_PARALLEL_REPLICA_H

#include "backends/contract/backend.h"
#include "backends/parallel/loss_scaler.h"
#include "backends/parallel/transport.h"

enum replica_phase {
	/* forward, loss and backward without products of factors; also the
	 * update, if a program does both at once */
	REPLICA_COMPUTE,
	REPLICA_WAIT,	 /* until every rank has reached this point */
	/* sum of the slice over all ranks, and other ranks' factors; later
	 * their parameters, or nothing if these are shared */
	REPLICA_REDUCE,
	/*
	 * products of factors, the optimizer's step, and waiting for the device
	 */
	REPLICA_UPDATE,
	REPLICA_PHASES
};

/*
 * Called when a phase ends; the harness then reads its clocks. An iteration has
 * the phases in the order of the enumeration; several ranks then have
 * REPLICA_WAIT and REPLICA_REDUCE once more.
 */
struct replica_observer {
	void (*ended)(struct replica_observer *observer,
		      enum replica_phase phase);
};

/*
 * Opens a device in each rank, one rank after the other, since libraries
 * initialise themselves without locks. Then all ranks run device_check() at
 * once, unless as many threads of this process have checked the library before.
 * Every rank calls it with the same request, whose rank and size are ignored.
 * Returns 0, or -1 with err.
 */
int replica_open(struct group *group, const struct backend *backend,
		 const struct device_request *request, struct device **device,
		 struct error *err);

/*
 * Compiles a program in each rank, with vectors that all ranks see if they
 * share memory. Every rank calls it with the same model and options; memory and
 * the group's values are set here. Offloading devices compile one after the
 * other. Drivers keep the kernels of the first for the others, and PoCL 3.1 may
 * abort if two threads compile equal ones at once. Returns 0, or -1 with err.
 */
int replica_compile(struct group *group, struct device *device,
		    const struct model *model,
		    const struct program_options *options,
		    struct program **program, struct error *err);

/*
 * Runs one iteration and sets score to this rank's share. scaler is NULL if the
 * loss is not scaled. A device that works in the background is waited for only
 * at the end; its phases then appear as one. The group may make it meet others
 * in between.
 *
 * Afterwards parameters are equal in all ranks. The gradient, and the
 * optimizer's state unless shared, are the whole batch's only in the rank's
 * slices of the reduced floats, one per bucket. Ranks must meet (group_gather)
 * before one of them stores parameters. Returns 0, or -1 with err.
 */
int replica_train(struct group *group, struct program *program,
		  const struct batch *batch, const struct update *update,
		  struct loss_scaler *scaler,
		  struct replica_observer *observer, struct score *score,
		  struct error *err);

/*
 * Stores the same values in every rank; if ranks share one copy, the first rank
 * stores it, and all meet afterwards. Every rank calls it, after a meeting.
 * Returns 0, or -1 with err.
 */
int replica_store(struct group *group, struct program *program,
		  enum vector which, const float *values, struct error *err);

/*
 * Begins a training with these parameters and buffers and a fresh optimizer;
 * buffers may be NULL if the program has none. Every rank calls it with equal
 * arguments; group is NULL for a program alone. Returns 0, or -1 with err.
 */
int replica_begin(struct group *group, struct program *program,
		  const float *parameters, const float *buffers,
		  struct error *err);

/* replica_begin() with seeded parameters and initial running statistics. */
int replica_initialise(struct group *group, struct program *program,
		       unsigned long long seed, struct error *err);

/*
 * Distributes a vector if each rank has only its slices: the optimizer's state,
 * or a gradient that is summed as a whole. Every rank calls it, and they must
 * meet before one of them stores or trains. Returns 0, or -1 with err.
 */
int replica_gather(struct group *group, struct program *program,
		   enum vector which, struct error *err);

/* Returns how many of the first count places of a global batch are rank's:
 * rank, rank + size, ... */
int replica_share(int rank, int size, int count);

#endif
