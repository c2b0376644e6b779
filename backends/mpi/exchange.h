/*
 * Sums in rank order between ranks of MPI without shared memory, and their
 * distribution, bucket by bucket: each rank's slices are sent to it.
 *
 * Buckets that begin while a rank still computes are sent by a thread of their
 * own, since MPI sends only within its calls. The thread ends before the rank
 * itself calls MPI again.
 *
 * A rank that fails before it begins a bucket never begins it. The others
 * notice when they offer; exchange_abandon() then waits for the buckets that
 * both ranks have begun, and cancels the rest. A rank that fails while its own
 * buckets are being sent ends all ranks: its vectors are gone by then.
 */
#ifndef BACKENDS_MPI_EXCHANGE_H
#define BACKENDS_MPI_EXCHANGE_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>

#include "backends/parallel/transport.h"

struct exchange {
	MPI_Comm ranks;
	int rank, size;
	int has_threads; /* 1 = MPI was initialised for threads */
	float *values;	 /* a vector, owned by the caller */
	struct buckets buckets;
	float *parts; /* of all ranks, for this rank's slices of all buckets */
	size_t room;  /* floats of parts */
	/* [bucket][rank][receive, send]; MPI_REQUEST_NULL = none, or done. */
	MPI_Request *requests;
	size_t request_room;
	int started; /* buckets with requests */
	pthread_t thread;
	int is_running;
	atomic_int begun; /* buckets that the thread is to start */
	atomic_int stopping;
	/* seconds that the thread had requests under way */
	double overlapped_s;
};

/* Allocates space for a sum of the vector, if there is not enough. Returns 0,
 * or -1 with err. */
int exchange_prepare(struct exchange *exchange, const struct buckets *buckets,
		     struct error *err);

/* Begins a bucket as group_begin_bucket() does; allocates space for the sum.
 * Does nothing without threads. Returns 0, or -1 with err. */
int exchange_begin(struct exchange *exchange, float *values,
		   const struct buckets *buckets, int bucket,
		   struct error *err);

/* Ends the thread and adds its time to *overlapped_s; call before any other
 * call of MPI. */
void exchange_join(struct exchange *exchange, double *overlapped_s);

/* Starts sending the buckets not yet begun, and receiving all. Returns 0, or -1
 * with err. */
int exchange_start_sum(struct exchange *exchange, float *values,
		       const struct buckets *buckets, struct error *err);
/* Computes the sum of this rank's slice of a bucket; requires its requests to
 * be done. */
void exchange_add(const struct exchange *exchange, int bucket);

/* Starts sending this rank's slices of all buckets, and receiving the others.
 * Returns 0, or -1 with err. */
int exchange_start_gather(struct exchange *exchange, float *values,
			  const struct buckets *buckets, struct error *err);

/* Returns the 2 size requests of a bucket. */
MPI_Request *exchange_requests(const struct exchange *exchange, int bucket);
/* Forgets the requests, which must be done. */
void exchange_end(struct exchange *exchange);

/*
 * Ends a sum after a failure of other ranks; begun has the number of buckets
 * that each rank has begun. Waits for requests that both ranks have begun;
 * cancels other receives and releases other sends.
 */
void exchange_abandon(struct exchange *exchange, const int *begun);

/* Sets sum to the sum of all ranks' vectors, in rank order; sum may be one of
 * them. */
void exchange_add_vectors(const float *const *vectors, int size, size_t count,
			  float *sum);

void exchange_release(struct exchange *exchange);

/* Sleeps between two calls of MPI, so that others have the CPU. */
void exchange_sleep(long ns);

#endif
