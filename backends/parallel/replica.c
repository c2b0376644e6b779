#include "backends/parallel/replica.h"

#include <stdlib.h>

_Static_assert(SLICE_LINE == UPDATE_LINE,
	       "slices can be updated, and hold whole factors of a rank");

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
	return request->checked >= request->threads ? 0 :
		device_check(*device, group->rank, request->threads, err);
}

int replica_compile(struct group *group, struct device *device,
		    const struct model *model,
		    const struct program_options *options,
		    struct program **program, struct error *err)
{
	struct program_options seen = *options;

	seen.memory = group->memory;
	seen.distributed_rank = group->rank;
	seen.distributed_size = group->size;
	seen.whole_gradients = group->whole_gradients ||
			       (group->native_sums && !group->memory);
	if (!device->backend->offloads)
		return program_compile(device, model, &seen, program, err);
	/* Other ranks wait in the loop below meanwhile. */
	if (seen.memory && seen.memory->meets)
		seen.memory = NULL;
	for (int r = 0; r < group->size; r++) {
		if (r == group->rank &&
		    program_compile(device, model, &seen, program, err))
			return -1;
		if (group_gather(group, NULL, 0, NULL, err))
			return -1;
	}
	return 0;
}

/* Arguments of one iteration. */
struct training_step {
	struct group *group;
	struct program *program;
	struct buckets buckets; /* of the reduced floats */
	struct batch batch;
	const struct update *update;
	struct loss_scaler *scaler; /* or NULL */
	struct replica_observer *observer;
};

static struct buckets buckets_for(const struct group *group,
				  const struct program *program)
{
	return buckets_of(program->reduced,
			  group->memory ? 0 : group->bucket_floats);
}

static struct slice own_slice(const struct training_step *step, int bucket)
{
	return bucket_slice(&step->buckets, bucket, step->group->rank,
			    step->group->size);
}

/* Sets *made to 1 if all ranks make the step. */
static int decide_step(const struct training_step *step, const float *gradient,
		       int *made, struct error *err)
{
	int finite = 1;

	*made = 1;
	if (!step->scaler)
		return 0;
	for (int b = 0; b < buckets_number(&step->buckets); b++) {
		const struct slice own = own_slice(step, b);

		finite &= loss_scaler_finite(gradient + own.from,
					     own.to - own.from);
	}
	return loss_scaler_decide(step->scaler, step->group, finite, made, err);
}

/* Begins buckets of a gradient that is being computed. */
struct sender {
	struct gradient_watcher base;
	const struct training_step *step;
	int begun;
	int failed;
	struct error *err;
};

static void send_complete(struct gradient_watcher *watcher, float *gradient,
			  size_t from)
{
	struct sender *sender = (struct sender *)watcher;
	const struct buckets *buckets = &sender->step->buckets;

	while (!sender->failed && sender->begun < buckets_number(buckets) &&
	       bucket_range(buckets, sender->begun).from >= from)
		sender->failed =
			group_begin_bucket(sender->step->group, gradient,
					   buckets, sender->begun++,
					   sender->err);
}

/* A single bucket would be sent no earlier, and a scaler writes infinities into
 * a complete gradient. */
static int compute_gradient(const struct training_step *step, struct error *err)
{
	struct program *program = step->program;
	struct sender sender = { { send_complete }, step, 0, 0, err };
	int failed;

	if (buckets_number(&step->buckets) > 1 && !step->scaler)
		program->watcher = &sender.base;
	failed = program_gradient(program, &step->batch, err);
	program->watcher = NULL;
	return failed || sender.failed ? -1 : 0;
}

/* Returns the gradient of this rank, mapped, or NULL with err. */
static float *lend_gradient(const struct training_step *step, struct error *err)
{
	struct program *program = step->program;
	float *gradient;

	if (compute_gradient(step, err))
		return NULL;
	gradient = program_map(program, VECTOR_GRADIENT, err);
	if (gradient && step->scaler)
		loss_scaler_plant(step->scaler, step->group, step->batch.step,
				  gradient, program->reduced);
	return gradient;
}

/* Computes the gradient of a scaled loss, and whether to make the step. */
static int scaled_gradient(const struct training_step *step, int *made,
			   struct error *err)
{
	const float *gradient = lend_gradient(step, err);

	return !gradient || decide_step(step, gradient, made, err) ||
			       program_unmap(step->program, VECTOR_GRADIENT,
					     err) ?
		       -1 : 0;
}

/* A scaler examines the gradient before the update. */
static int train_alone(const struct training_step *step, struct score *score,
		       struct error *err)
{
	struct program *program = step->program;
	const int at_once = program->device->backend->trains_at_once &&
			    !step->scaler;
	int made = 1;

	if (step->scaler ? scaled_gradient(step, &made, err) :
	    at_once ? program_train(program, &step->batch, step->update, err) :
		      program_gradient(program, &step->batch, err))
		return -1;
	step->observer->ended(step->observer, REPLICA_COMPUTE);
	step->observer->ended(step->observer, REPLICA_WAIT);
	step->observer->ended(step->observer, REPLICA_REDUCE);
	if ((!at_once && made &&
	     program_update(program, step->update, err)) ||
	    program_finish(program, score, err))
		return -1;
	step->observer->ended(step->observer, REPLICA_UPDATE);
	return 0;
}

/* Exchanges factors if ranks share no memory. */
static int gather_factors(const struct training_step *step, struct error *err)
{
	struct program *program = step->program;
	struct group *group = step->group;

	if (!program->factors)
		return 0;
	group->summed_bytes += (long)(program->factors_each * sizeof(float));
	return group_offer(group, program->factors,
			   (size_t)group->size * program->factors_each, err) ||
			       group_all_gather(group, err) ?
		       -1 : 0;
}

/* Computes the gradient's sum in this rank's slices. */
static int reduce_gradient(const struct training_step *step, int *made,
			   struct error *err)
{
	struct program *program = step->program;
	float *gradient = lend_gradient(step, err);

	if (!gradient)
		return -1;
	step->observer->ended(step->observer, REPLICA_COMPUTE);
	if (group_offer_buckets(step->group, gradient, &step->buckets, err))
		return -1;
	step->observer->ended(step->observer, REPLICA_WAIT);
	if (group_reduce_scatter(step->group, err) ||
	    gather_factors(step, err) ||
	    decide_step(step, gradient, made, err) ||
	    program_unmap(program, VECTOR_GRADIENT, err))
		return -1;
	step->observer->ended(step->observer, REPLICA_REDUCE);
	return 0;
}

/* Returns 1 if ranks share one copy of the vector: then meeting is enough. */
static int is_shared(const struct program *program, enum vector which)
{
	return program->shared && which != VECTOR_GRADIENT;
}

static int offer_own(struct group *group, const struct program *program,
		     enum vector which, float *values, struct error *err)
{
	const struct buckets buckets = buckets_for(group, program);

	return is_shared(program, which) ?
		       group_gather(group, NULL, 0, NULL, err) :
		       group_offer_buckets(group, values, &buckets, err);
}

static int get_others(struct group *group, const struct program *program,
		      enum vector which, struct error *err)
{
	return is_shared(program, which) ? 0 : group_all_gather(group, err);
}

static int update_own(const struct training_step *step, struct error *err)
{
	for (int b = 0; b < buckets_number(&step->buckets); b++) {
		const struct slice own = own_slice(step, b);

		if (program_update_part(step->program, step->update, own.from,
					own.to, err))
			return -1;
	}
	return program_update_factored(step->program, step->update, err);
}

static int train_together(const struct training_step *step,
			  struct score *score, struct error *err)
{
	struct group *group = step->group;
	struct program *program = step->program;
	float *parameters;
	int made;

	if (reduce_gradient(step, &made, err) ||
	    (made && update_own(step, err)))
		return -1;
	parameters = program_map(program, VECTOR_PARAMETERS, err);
	if (!parameters)
		return -1;
	step->observer->ended(step->observer, REPLICA_UPDATE);
	if (offer_own(group, program, VECTOR_PARAMETERS, parameters, err))
		return -1;
	step->observer->ended(step->observer, REPLICA_WAIT);
	if (get_others(group, program, VECTOR_PARAMETERS, err) ||
	    program_unmap(program, VECTOR_PARAMETERS, err) ||
	    program_finish(program, score, err))
		return -1;
	step->observer->ended(step->observer, REPLICA_REDUCE);
	return 0;
}

int replica_train(struct group *group, struct program *program,
		  const struct batch *batch, const struct update *update,
		  struct loss_scaler *scaler,
		  struct replica_observer *observer, struct score *score,
		  struct error *err)
{
	struct training_step step = { group,  program,
				      buckets_for(group, program),
				      *batch, update, scaler, observer };

	if (scaler)
		step.batch.loss_scale = scaler->scale;
	return group->size > 1 ? train_together(&step, score, err) :
				 train_alone(&step, score, err);
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
	/*
	 * One copy has one writer; the other ranks learn that it has changed.
	 */
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

/* Clears the optimizer's state, and the gradient. */
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

/* buffers may be NULL for a program without any. */
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
	/* One copy has one writer. */
	const int draws = !group || group->rank == 0 ||
			  !is_shared(program, VECTOR_PARAMETERS);
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
	if (draws)
		model_init(program->model, seed, parameters);
	model_init_buffers(program->model, buffers);
	failed = store_both(group, program, parameters, buffers, err);
	free(parameters);
	return failed;
}
