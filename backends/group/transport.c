#include "backends/group/transport.h"

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
				 "transport %s runs 1 to %d cores, not %d",
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

int group_offer(struct group *group, float *values, size_t count,
		struct error *err)
{
	group->offered = count;
	return group->transport->offer(group, values, count, err);
}

int group_reduce_scatter(struct group *group, struct error *err)
{
	group->summed_bytes += (long)(group->offered * sizeof(float));
	return group->transport->reduce_scatter(group, err);
}

int group_all_gather(struct group *group, struct error *err)
{
	return group->transport->all_gather(group, err);
}
