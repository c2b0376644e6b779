#include "backends/replica.h"

int replica_share(int rank, int size, int count)
{
	return count > rank ? (count - rank + size - 1) / size : 0;
}

int replica_open(struct group *group, const struct backend *backend,
		 const struct device_request *request, struct device **device,
		 struct error *err)
{
	for (int r = 0; r < group->size; r++) {
		if (r == group->rank &&
		    device_open(backend, request, device, err))
			return -1;
		if (group_gather(group, NULL, 0, NULL, err))
			return -1;
	}
	return device_check(*device, group->rank, request->threads, err);
}

int replica_compile(struct group *group, struct device *device,
		    const struct model *model,
		    const struct program_options *options,
		    struct program **program, struct error *err)
{
	struct program_options seen = *options;

	seen.memory = group->memory;
	return program_compile(device, model, &seen, program, err);
}

static int all_reduce(struct group *group, struct program *program,
		      struct error *err)
{
	float *gradient = program_map(program, VECTOR_GRADIENT, err);

	if (!gradient || group_sum(group, gradient, program->length, err))
		return -1;
	return program_unmap(program, VECTOR_GRADIENT, err);
}

int replica_train(struct group *group, struct program *program,
		  const struct batch *batch, const struct update *update,
		  struct replica_observer *observer, struct score *score,
		  struct error *err)
{
	if (program_gradient(program, batch, err))
		return -1;
	observer->ended(observer, REPLICA_COMPUTE);
	if (group->size > 1 && group_gather(group, NULL, 0, NULL, err))
		return -1;
	observer->ended(observer, REPLICA_WAIT);
	if (group->size > 1 && all_reduce(group, program, err))
		return -1;
	observer->ended(observer, REPLICA_REDUCE);
	if (program_update(program, update, err) ||
	    program_finish(program, score, err))
		return -1;
	observer->ended(observer, REPLICA_UPDATE);
	return 0;
}
