/*
 * Data-parallel training above any program: each rank computes the gradient of
 * its share, the gradients are summed in rank order, and every rank makes the
 * same update. One rank alone is the plain case.
 */
#ifndef BACKENDS_REPLICA_H
#define BACKENDS_REPLICA_H

#include "backends/backend.h"
#include "backends/transport.h"

enum replica_phase {
	REPLICA_COMPUTE, /* forward, loss and backward */
	REPLICA_WAIT,	 /* until every rank has its gradient */
	REPLICA_REDUCE,	 /* the gradient's sum over all ranks */
	REPLICA_UPDATE,	 /* the optimizer's step, and waiting for the device */
	REPLICA_PHASES
};

/* Told when a phase has ended; the harness reads its clocks there. */
struct replica_observer {
	void (*ended)(struct replica_observer *observer,
		      enum replica_phase phase);
};

/*
 * Opens a device for each rank, one after the other, since libraries set
 * themselves up without locks, and checks them all at once: device_check().
 * Every rank calls it with the same request.
 */
int replica_open(struct group *group, const struct backend *backend,
		 const struct device_request *request, struct device **device,
		 struct error *err);

/* Compiles a program whose vectors all ranks see. Every rank calls it with the
 * same model, and options but for memory. */
int replica_compile(struct group *group, struct device *device,
		    const struct model *model,
		    const struct program_options *options,
		    struct program **program, struct error *err);

/*
 * One iteration. score becomes the rank's own share. A device that works in
 * the background is waited for at the end only, so that its phases are known
 * as one, unless the group makes it meet others in between.
 */
int replica_train(struct group *group, struct program *program,
		  const struct batch *batch, const struct update *update,
		  struct replica_observer *observer, struct score *score,
		  struct error *err);

/*
 * The places of a global batch that rank works on are rank, rank + size, ...:
 * how many of the first count they are.
 */
int replica_share(int rank, int size, int count);

#endif
