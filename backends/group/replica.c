#include "backends/group/replica.h"

#include <math.h>
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

/* What one iteration works on. */
struct training_step {
	struct group *group;
	struct program *program;
	struct batch batch;
	const struct update *update;
	struct loss_scaler *scaler; /* or NULL */
	struct replica_observer *observer;
};

/*
 * A gradient overflows on purpose where the variable BENCH_TEST_OVERFLOW names
 * the step, from 0: that of the last rank, whose loss is scaled. It exists so
 * that tests can see the ranks leave out the same step.
 */
static void overflow(const struct training_step *step, float *gradient)
{
	const char *named = getenv("BENCH_TEST_OVERFLOW");

	if (step->scaler && named && *named &&
	    step->group->rank == step->group->size - 1 &&
	    strtoul(named, NULL, 10) == step->batch.step)
		for (size_t i = 0; i < step->program->reduced; i++)
			gradient[i] = INFINITY;
}

static int all_finite(const float *values, struct slice slice)
{
	int finite = 1;

	for (size_t i = slice.from; i < slice.to; i++)
		finite &= isfinite(values[i]) != 0;
	return finite;
}

/* Whether the step is made, as all ranks see it; own is what this one looked
 * at of the gradient that is summed. */
static int decide_step(const struct training_step *step, int own, int *made,
		       struct error *err)
{
	struct loss_scaler *scaler = step->scaler;
	int all[GROUP_MAX_SIZE] = { own };

	*made = 1;
	if (!scaler)
		return 0;
	if (step->group->size > 1 &&
	    group_gather(step->group, &own, sizeof(own), all, err))
		return -1;
	for (int r = 0; r < step->group->size; r++)
		*made &= all[r];
	scaler->steps++;
	if (!*made) {
		scaler->scale /= 2;
		scaler->skipped++;
		scaler->steps = 0;
	} else if (scaler->steps == LOSS_SCALE_STEPS) {
		scaler->scale = fmin(scaler->scale * 2, LOSS_SCALE_MOST);
		scaler->steps = 0;
	}
	return 0;
}

/* With a scaler gradient and update are apart: it looks at what is between. */
static int train_alone(const struct training_step *step, struct score *score,
		       struct error *err)
{
	struct program *program = step->program;
	const int at_once = program->device->backend->trains_at_once &&
			    !step->scaler;
	int finite = 1, made = 1;

	if (at_once ? program_train(program, &step->batch, step->update, err) :
		      program_gradient(program, &step->batch, err))
		return -1;
	if (step->scaler) {
		float *gradient = program_map(program, VECTOR_GRADIENT, err);

		if (!gradient)
			return -1;
		overflow(step, gradient);
		finite = all_finite(gradient,
				    (struct slice){ 0, program->length });
		if (program_unmap(program, VECTOR_GRADIENT, err))
			return -1;
	}
	step->observer->ended(step->observer, REPLICA_COMPUTE);
	step->observer->ended(step->observer, REPLICA_WAIT);
	step->observer->ended(step->observer, REPLICA_REDUCE);
	if (decide_step(step, finite, &made, err) ||
	    (!at_once && made &&
	     program_update(program, step->update, err)) ||
	    program_finish(program, score, err))
		return -1;
	step->observer->ended(step->observer, REPLICA_UPDATE);
	return 0;
}

/* The sum of the gradients is known where it is needed, in the own slice;
 * *finite: all of that is. */
static int reduce_gradient(const struct training_step *step, struct slice own,
			   int *finite, struct error *err)
{
	struct program *program = step->program;
	float *gradient;

	if (program_gradient(program, &step->batch, err))
		return -1;
	gradient = program_map(program, VECTOR_GRADIENT, err);
	if (!gradient)
		return -1;
	overflow(step, gradient);
	step->observer->ended(step->observer, REPLICA_COMPUTE);
	if (group_offer(step->group, gradient, program->reduced, err))
		return -1;
	step->observer->ended(step->observer, REPLICA_WAIT);
	if (group_reduce_scatter(step->group, err))
		return -1;
	*finite = !step->scaler || all_finite(gradient, own);
	if (program_unmap(program, VECTOR_GRADIENT, err))
		return -1;
	step->observer->ended(step->observer, REPLICA_REDUCE);
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

static int train_together(const struct training_step *step,
			  struct score *score, struct error *err)
{
	struct group *group = step->group;
	struct program *program = step->program;
	const struct slice own =
		group_slice(group->rank, group->size, program->reduced);
	float *parameters;
	int finite, made;

	if (reduce_gradient(step, own, &finite, err) ||
	    decide_step(step, finite, &made, err))
		return -1;
	if (made && (program_update_part(program, step->update, own.from,
					 own.to, err) ||
		     program_update_factored(program, step->update, err)))
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
	struct training_step step = { group,  program, *batch,
				      update, scaler,  observer };

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
