#include "backends/parallel/transport.h"

#include <assert.h>
#include <string.h>

extern const struct transport self_transport;
extern const struct transport threads_transport;
extern const struct transport fork_transport;

static const struct transport *const transports[] = {
	&self_transport,
	&threads_transport,
	&fork_transport,
};

#define FIRST_BUCKET (1024 * 1024 / sizeof(float))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct transport *transport_next(const struct transport *previous)
{
	size_t i = 0;

	if (previous)
		while (i < COUNT(transports) && transports[i++] != previous)
			;
	return i < COUNT(transports) ? transports[i] : NULL;
}

const struct transport *transport_find(const char *name)
{
	for (size_t i = 0; i < COUNT(transports); i++)
		if (!strcmp(transports[i]->name, name))
			return transports[i];
	return NULL;
}

int group_launch(const struct transport *transport, int size,
		 const struct group_job *job, struct error *err)
{
	if (transport->unavailable)
		return error_set(err, ERROR_MISSING, "transport %s: %s",
				 transport->name, transport->unavailable);
	if (size < 1 || size > transport->max_size)
		return error_set(err, ERROR_USAGE,
				 "transport %s supports 1 to %d cores, not %d",
				 transport->name, transport->max_size, size);
	return transport->launch(transport, size, job, err);
}

int group_gather(struct group *group, const void *mine, size_t bytes,
		 void *all, struct error *err)
{
	assert(bytes <= GROUP_MAX_MESSAGE);
	return group->transport->gather(group, mine, bytes, all, err);
}

int group_wait(struct group *group, struct error *err)
{
	return group_gather(group, NULL, 0, NULL, err);
}

struct slice group_slice(int rank, int size, size_t count)
{
	const size_t lines = (count + SLICE_LINE - 1) / SLICE_LINE;
	const size_t ranks = (size_t)size, first = (size_t)rank;
	const size_t from = lines * first / ranks * SLICE_LINE;
	const size_t to = lines * (first + 1) / ranks * SLICE_LINE;

	return (struct slice){ from < count ? from : count,
			       to < count ? to : count };
}

struct buckets buckets_of(size_t count, size_t each)
{
	const size_t least = (count + GROUP_MOST_BUCKETS - 3) /
			     (GROUP_MOST_BUCKETS - 2);
	const size_t floats = each > least ? each : least;
	const size_t whole = (floats + SLICE_LINE - 1) / SLICE_LINE *
			     SLICE_LINE;

	if (!each)
		return (struct buckets){ .count = count };
	return (struct buckets){ count,
				 whole < FIRST_BUCKET ? whole : FIRST_BUCKET,
				 whole };
}

/* Returns the floats of this bucket and those after it in the vector. */
static size_t floats_to(const struct buckets *buckets, int bucket)
{
	return buckets->first + (size_t)bucket * buckets->each;
}

int buckets_number(const struct buckets *buckets)
{
	int number = 1;

	while (buckets->each && floats_to(buckets, number - 1) < buckets->count)
		number++;
	return number;
}

/* A bucket begins at a whole line from the vector's beginning. */
static size_t bucket_from(const struct buckets *buckets, int bucket)
{
	const size_t lines = (buckets->count + SLICE_LINE - 1) / SLICE_LINE;
	const size_t behind = floats_to(buckets, bucket) / SLICE_LINE;

	return buckets->each && behind < lines ? (lines - behind) * SLICE_LINE :
						 0;
}

struct slice bucket_range(const struct buckets *buckets, int bucket)
{
	return (struct slice){ bucket_from(buckets, bucket),
			       bucket ? bucket_from(buckets, bucket - 1) :
					buckets->count };
}

struct slice bucket_slice(const struct buckets *buckets, int bucket, int rank,
			  int size)
{
	const struct slice range = bucket_range(buckets, bucket);
	const struct slice slice =
		group_slice(rank, size, range.to - range.from);

	return (struct slice){ range.from + slice.from,
			       range.from + slice.to };
}

int group_offer_buckets(struct group *group, float *values,
			const struct buckets *buckets, struct error *err)
{
	group->offered = *buckets;
	return group->transport->offer(group, values, err);
}

int group_offer(struct group *group, float *values, size_t count,
		struct error *err)
{
	const struct buckets one = { .count = count };

	return group_offer_buckets(group, values, &one, err);
}

int group_begin_bucket(struct group *group, float *values,
		       const struct buckets *buckets, int bucket,
		       struct error *err)
{
	if (!group->transport->begin_bucket)
		return 0;
	return group->transport->begin_bucket(group, values, buckets, bucket,
					      err);
}

int group_reduce_scatter(struct group *group, struct error *err)
{
	group->summed_bytes += (long)(group->offered.count * sizeof(float));
	return group->transport->reduce_scatter(group, err);
}

int group_all_gather(struct group *group, struct error *err)
{
	return group->transport->all_gather(group, err);
}
