#include "backends/group/replica.h"

#include <stdlib.h>

_Static_assert(SLICE_LINE % UPDATE_LINE == 0, "a slice can be updated");

int replica_share(int rank, int size, int count)
{
	return count > rank ? (count - rank + size - 1) / size : 0;
}

int replica_open(struct group *group, const struct backend *backend,
		 const struct device_request *request, struct device **device,
		 struct error *err)
{
	struct device_request own = *request;

	own.rank = group->rank;
	own.size = group->size;
	for (int r = 0; r < group->size; r++) {
		if (r == group->rank &&
		    device_open(backend, &own, device, err))
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
	if (!device->backend->offloads)
		return program_compile(device, model, &seen, program, err);
	for (int r = 0; r < group->size; r++) {
		if (r == group->rank &&
		    program_compile(device, model, &seen, program, err))
			return -1;
		if (group_gather(group, NULL, 0, NULL, err))
			return -1;
	}
	return 0;
}

static int train_alone(struct program *program, const struct batch *batch,
		       const struct update *update,
		       struct replica_observer *observer, struct score *score,
		       struct error *err)
{
	const int at_once = program->device->backend->trains_at_once;

	if (at_once ? program_train(program, batch, update, err) :
		      program_gradient(program, batch, err))
		return -1;
	observer->ended(observer, REPLICA_COMPUTE);
	observer->ended(observer, REPLICA_WAIT);
	observer->ended(observer, REPLICA_REDUCE);
	if ((!at_once && program_update(program, update, err)) ||
	    program_finish(program, score, err))
		return -1;
	observer->ended(observer, REPLICA_UPDATE);
	return 0;
}

/* The sum of the gradients is known where it is needed, in the own slice. */
static int reduce_gradient(struct group *group, struct program *program,
			   const struct batch *batch,
			   struct replica_observer *observer,
			   struct error *err)
{
	float *gradient;

	if (program_gradient(program, batch, err))
		return -1;
	gradient = program_map(program, VECTOR_GRADIENT, err);
	if (!gradient)
		return -1;
	observer->ended(observer, REPLICA_COMPUTE);
	if (group_offer(group, gradient, program->reduced, err))
		return -1;
	observer->ended(observer, REPLICA_WAIT);
	if (group_reduce_scatter(group, err) ||
	    program_unmap(program, VECTOR_GRADIENT, err))
		return -1;
	observer->ended(observer, REPLICA_REDUCE);
	return 0;
}

/* Where all have one copy, it is enough that all of them have come so far. */
static int is_shared(const struct program *program, enum vector which)
{
	return program->shared && which != VECTOR_GRADIENT;
}

static int offer_own(struct group *group, const struct program *program,
		     enum vector which, float *values, struct error *err)
{
	return is_shared(program, which) ?
		       group_gather(group, NULL, 0, NULL, err) :
		       group_offer(group, values, program->length, err);
}

static int get_others(struct group *group, const struct program *program,
		      enum vector which, struct error *err)
{
	return is_shared(program, which) ? 0 : group_all_gather(group, err);
}

static int train_together(struct group *group, struct program *program,
			  const struct batch *batch,
			  const struct update *update,
			  struct replica_observer *observer,
			  struct score *score, struct error *err)
{
	const struct slice own =
		group_slice(group->rank, group->size, program->reduced);
	float *parameters;

	if (reduce_gradient(group, program, batch, observer, err) ||
	    program_update_part(program, update, own.from, own.to, err) ||
	    program_update_factored(program, update, err))
		return -1;
	parameters = program_map(program, VECTOR_PARAMETERS, err);
	if (!parameters)
		return -1;
	observer->ended(observer, REPLICA_UPDATE);
	if (offer_own(group, program, VECTOR_PARAMETERS, parameters, err))
		return -1;
	observer->ended(observer, REPLICA_WAIT);
	if (get_others(group, program, VECTOR_PARAMETERS, err) ||
	    program_unmap(program, VECTOR_PARAMETERS, err) ||
	    program_finish(program, score, err))
		return -1;
	observer->ended(observer, REPLICA_REDUCE);
	return 0;
}

int replica_train(struct group *group, struct program *program,
		  const struct batch *batch, const struct update *update,
		  struct replica_observer *observer, struct score *score,
		  struct error *err)
{
	return group->size > 1 ?
		       train_together(group, program, batch, update, observer,
				      score, err) :
		       train_alone(program, batch, update, observer, score,
				   err);
}

int replica_gather(struct group *group, struct program *program,
		   enum vector which, struct error *err)
{
	float *values = program_map(program, which, err);

	if (!values || offer_own(group, program, which, values, err) ||
	    get_others(group, program, which, err))
		return -1;
	return program_unmap(program, which, err);
}

int replica_store(struct group *group, struct program *program,
		  enum vector which, const float *values, struct error *err)
{
	if (!is_shared(program, which))
		return program_store(program, which, values, err);
	/* One copy has one writer; the others learn that it has changed. */
	if (group->rank == 0 ? program_store(program, which, values, err) :
			       !program_map(program, which, err) ||
				       program_unmap(program, which, err))
		return -1;
	return group_gather(group, NULL, 0, NULL, err);
}

static int store(struct group *group, struct program *program,
		 enum vector which, const float *values, struct error *err)
{
	return group ? replica_store(group, program, which, values, err) :
		       program_store(program, which, values, err);
}

/* The optimizer's state, and the gradient. */
static int clear_others(struct group *group, struct program *program,
			struct error *err)
{
	float *zeros = calloc(program->parameters, sizeof(*zeros));
	int failed = 0;

	if (!zeros)
		return error_memory(err, "the optimizer's state");
	for (int v = VECTOR_GRADIENT; !failed && v < program->vectors; v++)
		failed = store(group, program, (enum vector)v, zeros, err);
	free(zeros);
	return failed;
}

/* buffers: of no program without any. */
static int store_both(struct group *group, struct program *program,
		      const float *parameters, const float *buffers,
		      struct error *err)
{
	return store(group, program, VECTOR_PARAMETERS, parameters, err) ||
	       (program->buffers &&
		program_store(program, VECTOR_BUFFERS, buffers, err)) ? -1 : 0;
}

int replica_begin(struct group *group, struct program *program,
		  const float *parameters, const float *buffers,
		  struct error *err)
{
	return clear_others(group, program, err) ||
	       store_both(group, program, parameters, buffers, err) ? -1 : 0;
}

int replica_initialise(struct group *group, struct program *program,
		       unsigned long long seed, struct error *err)
{
	float *parameters, *buffers;
	int failed;

	if (clear_others(group, program, err))
		return -1;
	/* Only now: they may be large, and so were the zeros. */
	parameters = malloc((program->parameters + program->buffers) *
			    sizeof(*parameters));
	if (!parameters)
		return error_memory(err, "the parameters");
	buffers = parameters + program->parameters;
	model_init(program->model, seed, parameters);
	model_init_buffers(program->model, buffers);
	failed = store_both(group, program, parameters, buffers, err);
	free(parameters);
	return failed;
}
