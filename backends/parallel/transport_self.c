/* Transport of a single core in this process. */
#include <string.h>

#include "backends/parallel/transport.h"

static int self_launch(const struct transport *transport, int size,
		       const struct group_job *job, struct error *err)
{
	struct group group = { .transport = transport, .size = size };

	return job->body(&group, job->context, err);
}

static int self_gather(struct group *group, const void *mine, size_t bytes,
		       void *all, struct error *err)
{
	(void)group;
	(void)err;
	if (bytes)
		memcpy(all, mine, bytes);
	return 0;
}

static int self_offer(struct group *group, float *values, struct error *err)
{
	(void)group;
	(void)values;
	(void)err;
	return 0;
}

/* The sum has one term, and the core has all slices. */
static int self_exchange(struct group *group, struct error *err)
{
	(void)group;
	(void)err;
	return 0;
}

const struct transport self_transport = {
	.name = "self",
	.summary = "one core in this process",
	.max_size = 1,
	.one_process = 1,
	.launch = self_launch,
	.gather = self_gather,
	.offer = self_offer,
	.reduce_scatter = self_exchange,
	.all_gather = self_exchange,
};
