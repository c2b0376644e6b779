#include "backends/transport.h"

#include <assert.h>

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

int group_sum(struct group *group, float *values, size_t count,
	      struct error *err)
{
	group->summed_bytes += (long)(count * sizeof(*values));
	return group->transport->sum(group, values, count, err);
}
