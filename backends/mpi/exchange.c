#include "backends/mpi/exchange.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "backends/mpi/check.h"

#define SLEEP_NS 100000 /* between two checks of requests under way */
#define SUM_BLOCK 512	/* floats that stay in the first cache */

/* Messages between two ranks arrive in order, so two tags are enough. */
enum tag { TAG_SUM = 2, TAG_GATHER };
enum { RECEIVE, SEND, BOTH };

void exchange_sleep(long ns)
{
	const struct timespec time = { .tv_nsec = ns };

	ppoll(NULL, 0, &time, NULL);
}

MPI_Request *exchange_requests(const struct exchange *exchange, int bucket)
{
	return exchange->requests + (size_t)bucket * (size_t)exchange->size *
				    BOTH;
}

static int request_count(const struct exchange *exchange)
{
	return exchange->started * exchange->size * BOTH;
}

static struct slice slice_of(const struct exchange *exchange, int bucket,
			     int rank)
{
	return bucket_slice(&exchange->buckets, bucket, rank, exchange->size);
}

static size_t length_of(struct slice slice)
{
	return slice.to - slice.from;
}

/* Returns the floats of this rank's slices before a bucket. */
static size_t floats_before(const struct exchange *exchange, int bucket)
{
	size_t floats = 0;

	for (int b = 0; b < bucket; b++)
		floats += length_of(slice_of(exchange, b, exchange->rank));
	return floats;
}

/* Returns another rank's part of this rank's slice of a bucket. */
static float *part_of(const struct exchange *exchange, int bucket, int rank)
{
	const size_t each =
		length_of(slice_of(exchange, bucket, exchange->rank));

	return exchange->parts +
	       floats_before(exchange, bucket) * (size_t)exchange->size +
	       each * (size_t)rank;
}

static int make_room(struct exchange *exchange, struct error *err)
{
	const int number = buckets_number(&exchange->buckets);
	const size_t size = (size_t)exchange->size;
	const size_t room = floats_before(exchange, number) * size;
	const size_t requests = (size_t)number * size * BOTH;

	if (requests > exchange->request_room) {
		free(exchange->requests);
		exchange->requests = malloc(requests * sizeof(MPI_Request));
		exchange->request_room = exchange->requests ? requests : 0;
	}
	if (room > exchange->room) {
		free(exchange->parts);
		exchange->parts = malloc(room * sizeof(*exchange->parts));
		exchange->room = exchange->parts ? room : 0;
	}
	return requests > exchange->request_room || room > exchange->room ?
		       error_memory(err, "the parts of a sum") : 0;
}

int exchange_prepare(struct exchange *exchange, const struct buckets *buckets,
		     struct error *err)
{
	if (exchange->started || exchange->is_running)
		return 0;
	exchange->buckets = *buckets;
	return make_room(exchange, err);
}

static void send_slice(const struct exchange *exchange, struct slice slice,
		       int to, enum tag tag, MPI_Request *request)
{
	if (slice.from < slice.to)
		mpi_must(MPI_Isend(exchange->values + slice.from,
				   (int)length_of(slice), MPI_FLOAT, to, tag,
				   exchange->ranks, request), "MPI_Isend");
}

static void receive_slice(const struct exchange *exchange, struct slice slice,
			  float *values, int from, enum tag tag,
			  MPI_Request *request)
{
	if (slice.from < slice.to)
		mpi_must(MPI_Irecv(values, (int)length_of(slice), MPI_FLOAT,
				   from, tag, exchange->ranks, request),
			 "MPI_Irecv");
}

/* Starts the next bucket's messages with one rank. */
static void start_with(const struct exchange *exchange, int rank, enum tag tag,
		       MPI_Request *pair)
{
	const int bucket = exchange->started;
	const struct slice own = slice_of(exchange, bucket, exchange->rank);
	const struct slice theirs = slice_of(exchange, bucket, rank);

	if (tag == TAG_SUM) {
		receive_slice(exchange, own, part_of(exchange, bucket, rank),
			      rank, tag, &pair[RECEIVE]);
		send_slice(exchange, theirs, rank, tag, &pair[SEND]);
	} else {
		receive_slice(exchange, theirs, exchange->values + theirs.from,
			      rank, tag, &pair[RECEIVE]);
		send_slice(exchange, own, rank, tag, &pair[SEND]);
	}
}

/* Each rank begins with another one. */
static void start_next(struct exchange *exchange, enum tag tag)
{
	MPI_Request *requests = exchange_requests(exchange, exchange->started);

	for (int i = 0; i < exchange->size * BOTH; i++)
		requests[i] = MPI_REQUEST_NULL;
	for (int i = 1; i < exchange->size; i++) {
		const int rank = (exchange->rank + i) % exchange->size;

		start_with(exchange, rank, tag, requests + rank * BOTH);
	}
	exchange->started++;
}

static int start_all(struct exchange *exchange, float *values,
		     const struct buckets *buckets, enum tag tag,
		     struct error *err)
{
	const int number = buckets_number(buckets);

	if (exchange_prepare(exchange, buckets, err))
		return -1;
	exchange->values = values;
	while (exchange->started < number)
		start_next(exchange, tag);
	return 0;
}

int exchange_start_sum(struct exchange *exchange, float *values,
		       const struct buckets *buckets, struct error *err)
{
	return start_all(exchange, values, buckets, TAG_SUM, err);
}

int exchange_start_gather(struct exchange *exchange, float *values,
			  const struct buckets *buckets, struct error *err)
{
	return start_all(exchange, values, buckets, TAG_GATHER, err);
}

/* Starts begun buckets and lets MPI progress, until the thread is asked to
 * stop; all begun buckets have then been started. */
static void *send_buckets(void *argument)
{
	struct exchange *exchange = argument;
	double then = MPI_Wtime();
	int stopping, done = 1;

	do {
		const int was_done = done;
		double now;

		stopping = atomic_load(&exchange->stopping);
		while (exchange->started < atomic_load(&exchange->begun))
			start_next(exchange, TAG_SUM);
		mpi_must(MPI_Testall(request_count(exchange),
				     exchange->requests, &done,
				     MPI_STATUSES_IGNORE), "MPI_Testall");
		now = MPI_Wtime();
		/* Between two checks; the last one follows the computation. */
		if (!was_done && !stopping)
			exchange->overlapped_s += now - then;
		then = now;
		if (!stopping)
			exchange_sleep(SLEEP_NS);
	} while (!stopping);
	return NULL;
}

int exchange_begin(struct exchange *exchange, float *values,
		   const struct buckets *buckets, int bucket,
		   struct error *err)
{
	int code;

	if (!exchange->has_threads)
		return 0;
	if (!exchange->is_running) {
		if (exchange_prepare(exchange, buckets, err))
			return -1;
		exchange->values = values;
		exchange->overlapped_s = 0;
		atomic_store(&exchange->stopping, 0);
	}
	atomic_store(&exchange->begun, bucket + 1);
	if (exchange->is_running)
		return 0;
	code = pthread_create(&exchange->thread, NULL, send_buckets, exchange);
	if (code)
		return error_set(err, ERROR_FAILED, "a thread that sends "
				 "gradients: %s", strerror(code));
	exchange->is_running = 1;
	return 0;
}

void exchange_join(struct exchange *exchange, double *overlapped_s)
{
	if (!exchange->is_running)
		return;
	atomic_store(&exchange->stopping, 1);
	pthread_join(exchange->thread, NULL);
	exchange->is_running = 0;
	*overlapped_s += exchange->overlapped_s;
}

void exchange_add(const struct exchange *exchange, int bucket)
{
	const struct slice own = slice_of(exchange, bucket, exchange->rank);
	const float *vectors[GROUP_MAX_SIZE];

	for (int r = 0; r < exchange->size; r++)
		vectors[r] = r == exchange->rank ?
				     exchange->values + own.from :
				     part_of(exchange, bucket, r);
	exchange_add_vectors(vectors, exchange->size, length_of(own),
		     exchange->values + own.from);
}

void exchange_add_vectors(const float *const *vectors, int size, size_t count,
		  float *sum)
{
	float block[SUM_BLOCK];

	for (size_t at = 0; at < count; at += SUM_BLOCK) {
		const size_t left = count - at;
		const size_t some = left < SUM_BLOCK ? left : SUM_BLOCK;

		memcpy(block, vectors[0] + at, some * sizeof(*block));
		for (int r = 1; r < size; r++)
			for (size_t i = 0; i < some; i++)
				block[i] += vectors[r][at + i];
		memcpy(sum + at, block, some * sizeof(*block));
	}
}

void exchange_end(struct exchange *exchange)
{
	exchange->started = 0;
}

/*
 * Waits for a request that the other rank has begun or never will. In the
 * latter case cancels a receive; MPI cannot cancel a send, which is released.
 */
static void settle_request(MPI_Request *request, int has_begun, int which)
{
	int done = *request == MPI_REQUEST_NULL;

	while (!done && has_begun) {
		mpi_must(MPI_Test(request, &done, MPI_STATUS_IGNORE),
			 "MPI_Test");
		if (!done)
			exchange_sleep(SLEEP_NS);
	}
	if (done)
		return;
	if (which == RECEIVE)
		mpi_must(MPI_Cancel(request), "MPI_Cancel");
	mpi_must(MPI_Request_free(request), "MPI_Request_free");
}

void exchange_abandon(struct exchange *exchange, const int *begun)
{
	for (int b = 0; b < exchange->started; b++)
		for (int r = 0; r < exchange->size; r++)
			for (int which = RECEIVE; which < BOTH; which++)
				settle_request(exchange_requests(exchange, b) +
						       r * BOTH + which,
					       b < begun[r], which);
	exchange_end(exchange);
}

void exchange_release(struct exchange *exchange)
{
	free(exchange->requests);
	free(exchange->parts);
}
