/*
 * Sums between ranks of MPI that have no memory in common, in rank order, and
 * how all get them: bucket by bucket, each rank's slices sent to it.
 *
 * Buckets that are begun while a rank still computes are sent by a thread of
 * their own, since MPI sends only within its calls. That thread ends before the
 * rank itself calls MPI again.
 *
 * Once a rank has failed before it began a bucket, it never will. The others
 * hear of it when they offer, and exchange_abandon() waits for what they have
 * begun together, and gives up the rest. A rank that fails with buckets of its
 * own under way ends all others: its vectors are gone by then.
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
	int has_threads; /* as MPI was initialised */
	float *values;	 /* a vector, owned by the caller */
	struct buckets buckets;
	float *parts; /* of all ranks, of the own slices of all buckets */
	size_t room;  /* floats of parts */
	/* [bucket][rank][receive, send]; MPI_REQUEST_NULL: none, or done. */
	MPI_Request *requests;
	size_t request_room;
	int started; /* buckets of which there are requests */
	pthread_t thread;
	int is_running;
	atomic_int begun; /* buckets that the thread is to start */
	atomic_int stopping;
	double overlapped_s; /* of the thread, with something under way */
};

/* Room for a sum of the vector, but for what there is. */
int exchange_prepare(struct exchange *exchange, const struct buckets *buckets,
		     struct error *err);

/* group_begin_bucket(); there is room for the sum. */
int exchange_begin(struct exchange *exchange, float *values,
		   const struct buckets *buckets, int bucket,
		   struct error *err);

/* Ends the thread, and adds to *overlapped_s; before any other call of MPI. */
void exchange_join(struct exchange *exchange, double *overlapped_s);

/* Starts to send the buckets that are not begun, and to receive them. */
int exchange_start_sum(struct exchange *exchange, float *values,
		       const struct buckets *buckets, struct error *err);
/* The own slice of a bucket, all of whose requests are done. */
void exchange_add(const struct exchange *exchange, int bucket);

/* Sends the own slices of all buckets, and receives the others'. */
int exchange_start_gather(struct exchange *exchange, float *values,
			  const struct buckets *buckets, struct error *err);

/* The 2 size requests of a bucket. */
MPI_Request *exchange_requests(const struct exchange *exchange, int bucket);
/* All requests are done. */
void exchange_end(struct exchange *exchange);

/* Others have begun so many buckets of the sum, by ranks, and some have failed.
 * What both have begun is waited for; other receives are cancelled, and other
 * sends given up. */
void exchange_abandon(struct exchange *exchange, const int *begun);

/* The sum of all ranks' vectors, in rank order; it may be one of them. */
void exchange_add_vectors(const float *const *vectors, int size, size_t count,
			  float *sum);

void exchange_release(struct exchange *exchange);

/* Until MPI is asked again; others have the CPU meanwhile. */
void exchange_sleep(long ns);

#endif
