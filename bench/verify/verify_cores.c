#include "bench/verify/verify_cores.h"

#include <stdlib.h>
#include <string.h>

#include "backends/group/replica.h"
#include "bench/system/hash.h"
#include "models/random.h"

#define STEPS 2
/* A small rate: what is compared is the sum over cores, and a large one would
 * let the second step's decisions differ by rounding. */
#define RATE .01
#define SAMPLES 8 /* of an evaluation afterwards */

/* Cores that train together, and what comes out of it: all in one piece, since
 * cores that are processes share nothing else. */
struct team {
	const struct verify_task *task;
	const int *order;
	int one_process;
	long masks_wrong;
	int replicas_differ;
	float parameters[]; /* of rank 0 afterwards */
};

struct member {
	struct team *team;
	struct group *group;
	struct device *device;
	struct program *program;
	struct share share;
	float *vector;
	uint8_t *decisions, *expected;
};

static void ignore_phase(struct replica_observer *observer,
			 enum replica_phase phase)
{
	(void)observer;
	(void)phase;
}

/* Dropout decisions of the share, against the generator's own. */
static int count_wrong_masks(struct member *member, const struct batch *batch,
			     long *wrong, struct error *err)
{
	const struct verify_task *task = member->team->task;
	const struct model *model = task->model;

	for (int l = 0; task->options->dropout && l < model->layer_count; l++) {
		const struct layer *layer = &model->layers[l];
		const size_t each =
			layer_decisions(layer, model_layer_input(model, l));

		if (!layer_drops(layer))
			continue;
		if (program_decisions(member->program, l, member->decisions,
				      err))
			return -1;
		for (int i = 0; i < batch->count; i++) {
			const uint8_t *taken =
				member->decisions + (size_t)i * each;

			dropout_choices((unsigned long long)
						task->options->seed,
					batch->step,
					(uint32_t)(batch->place +
						   batch->stride * i),
					(uint32_t)l, layer->drop, (int)each,
					member->expected);
			for (size_t c = 0; c < each; c++)
				*wrong += taken[c] != member->expected[c];
		}
	}
	return 0;
}

static int open_member(struct member *member, struct error *err)
{
	const struct verify_task *task = member->team->task;
	const struct group *group = member->group;
	const struct device_request request = {
		.choice = task->device,
		.threads = member->team->one_process ? group->size : 1,
		.cpus = VERIFY_MOST_CORES,
		.device_class = task->options->device_class,
	};
	const struct program_options options = {
		.batch = replica_share(0, group->size, task->batch),
		.test_batch = SAMPLES,
		.seed = (unsigned long long)task->options->seed,
		.dropout = task->options->dropout,
		.algorithm = task->algorithm,
		.precision = task->precision,
	};
	const size_t count = model_parameter_count(task->model);
	const size_t most = verify_most_decisions(task->model);

	member->vector = calloc(count, sizeof(float));
	member->decisions = malloc((size_t)task->batch * most);
	member->expected = malloc(most);
	if (share_allocate(&member->share, task, task->batch) ||
	    !member->vector || !member->decisions || !member->expected)
		return error_memory(err, "a core's batch");
	if (replica_open(member->group, task->backend, &request,
			 &member->device, err) ||
	    replica_compile(member->group, member->device, task->model,
			    &options, &member->program, err))
		return -1;
	return replica_initialise(member->group, member->program, options.seed,
				  err);
}

static void close_member(struct member *member)
{
	program_free(member->program);
	device_close(member->device);
	share_release(&member->share);
	free(member->vector);
	free(member->decisions);
	free(member->expected);
}

static int train(struct member *member, struct error *err)
{
	const struct verify_task *task = member->team->task;
	struct replica_observer observer = { ignore_phase };
	long wrong = 0, all[GROUP_MAX_SIZE];
	struct score score;
	struct batch batch;

	for (int s = 0; s < task->steps; s++) {
		const struct update update = recipe_update(
			&task->model->recipe, task->lr, (uint32_t)s);

		verify_batch(task, member->team->order, s, member->group->rank,
			     member->group->size, &member->share, &batch);
		if (replica_train(member->group, member->program, &batch,
				  &update, &observer, &score, err) ||
		    count_wrong_masks(member, &batch, &wrong, err))
			return -1;
	}
	if (group_gather(member->group, &wrong, sizeof(wrong), all, err))
		return -1;
	if (member->group->rank)
		return 0;
	for (int r = 0; r < member->group->size; r++)
		member->team->masks_wrong += all[r];
	return 0;
}

/* What all cores must have the bits of. */
struct replica {
	uint64_t parameters; /* their hash */
	double loss;	     /* of the same samples */
};

/* The parameters may be one copy for all: what a core has derived from them, as
 * kernels want them, is its own, and shows in the loss alone. */
static int look_at_replica(struct member *member, struct replica *replica,
			   struct error *err)
{
	const struct verify_task *task = member->team->task;
	struct score score = { 0 };
	struct batch batch;
	int failed = 0;

	if (program_load(member->program, VECTOR_PARAMETERS, member->vector,
			 err))
		return -1;
	/* Each core has running statistics of its own. */
	if (member->program->buffers) {
		float *fresh = malloc(member->program->buffers * sizeof(float));

		if (!fresh)
			return error_memory(err, "running statistics");
		model_init_buffers(task->model, fresh);
		failed = program_store(member->program, VECTOR_BUFFERS, fresh,
				       err);
		free(fresh);
	}
	verify_batch(task, member->team->order, STEPS, 0, 1, &member->share,
		     &batch);
	if (batch.count > SAMPLES)
		batch.count = SAMPLES;
	if (failed || program_evaluate(member->program, &batch, &score, err))
		return -1;
	replica->parameters = hash_bytes64(
		member->vector, member->program->parameters * sizeof(float));
	replica->loss = score.loss;
	return 0;
}

static int compare_replicas(struct member *member, struct error *err)
{
	struct replica mine, all[GROUP_MAX_SIZE];

	if (look_at_replica(member, &mine, err) ||
	    group_gather(member->group, &mine, sizeof(mine), all, err))
		return -1;
	if (member->group->rank)
		return 0;
	for (int r = 1; r < member->group->size; r++)
		member->team->replicas_differ |=
			memcmp(&all[r], &all[0], sizeof(all[0])) != 0;
	memcpy(member->team->parameters, member->vector,
	       member->program->parameters * sizeof(float));
	return 0;
}

static int team_body(struct group *group, void *context, struct error *err)
{
	struct member member = { .team = context, .group = group };
	int failed = open_member(&member, err) || train(&member, err) ||
		     compare_replicas(&member, err);

	close_member(&member);
	return failed ? -1 : 0;
}

int verify_team(const struct verify_task *task, const int *order,
		const struct transport *transport, int cores,
		float *parameters, struct verify_result *result,
		struct error *err)
{
	const size_t bytes =
		model_parameter_count(task->model) * sizeof(*parameters);
	struct team *team = calloc(1, sizeof(*team) + bytes);
	const struct group_job job = { team_body, team, sizeof(*team) + bytes,
				       NULL };
	int failed;

	if (!team)
		return error_memory(err, "the cores to compare");
	team->task = task;
	team->order = order;
	team->one_process = transport->one_process;
	failed = group_launch(transport, cores, &job, err);
	result->masks_wrong += team->masks_wrong;
	result->replicas_differ |= team->replicas_differ;
	memcpy(parameters, team->parameters, bytes);
	free(team);
	return failed;
}

static void compare_parameters(const struct verify_task *task,
			       const float *several, const float *one,
			       struct verify_result *result)
{
	for (int t = 0; t < task->tensor_count; t++) {
		const size_t at = task->tensors[t].offset;

		verify_worsen(&result->cores,
			      verify_error(several + at, one + at,
					   task->tensors[t].count));
	}
}

/* With batch norm, several cores are not one with the batch of all: right
 * becomes what as many cores of the reference have trained. */
static int train_right(const struct verify_task *task, const int *order,
		       int cores, float *right, struct verify_result *result,
		       struct error *err)
{
	struct verify_task reference = *task;

	if (!model_has_batchnorm(task->model))
		return 0;
	reference.backend = backend_oracle();
	reference.device = NULL;
	reference.algorithm = ALGORITHM_DENSE;
	reference.precision = PRECISION_FP32;
	return verify_team(&reference, order, transport_find("fork"), cores,
			   right, result, err);
}

/* 2 and 3 cores against one, whose most becomes *most. A device may be parted
 * into fewer. */
static int compare_with_one(const struct verify_task *task, const int *order,
			    const struct transport *by, float *one,
			    float *several, int *most,
			    struct verify_result *result, struct error *err)
{
	*most = 1;
	for (int cores = 2; cores <= VERIFY_MOST_CORES; cores++) {
		if (verify_check_signal(err, "before %d cores", cores) ||
		    train_right(task, order, cores, one, result, err))
			return -1;
		if (verify_team(task, order, by, cores, several, result, err))
			return task->backend->offloads &&
					       err->kind == ERROR_MISSING ?
				       0 : -1;
		*most = cores;
		compare_parameters(task, several, one, result);
	}
	return 0;
}

static int compare_teams(const struct verify_task *task, const int *order,
			 float *one, float *several,
			 struct verify_result *result, struct error *err)
{
	/* Processes first: they lack the threads that a library has started
	 * before them, for which it would wait. */
	const struct transport *const transports[] = {
		transport_find("fork"), transport_find("threads")
	};

	result->most_cores = VERIFY_MOST_CORES;
	if (verify_team(task, order, transports[0], 1, one, result, err))
		return -1;
	for (size_t t = 0; t < sizeof(transports) / sizeof(transports[0]);
	     t++) {
		int most;

		if (compare_with_one(task, order, transports[t], one, several,
				     &most, result, err))
			return -1;
		/* Only what all of them could is said to be equal. */
		if (most < result->most_cores)
			result->most_cores = most;
	}
	if (result->most_cores == 1)
		result->cores = VERIFY_NOT_MEASURED;
	return 0;
}

/* Two cores that have a whole measured batch each, against one that has both
 * batches. Parts of a device would be compiled for anew. */
static int compare_measured(const struct verify_task *task, const int *order,
			    float *one, float *several,
			    struct verify_result *result, struct error *err)
{
	const struct transport *threads = transport_find("threads");
	struct verify_task both = *task;

	both.batch = 2 * task->measured_batch;
	both.steps = 1;
	if (task->backend->offloads)
		return 0;
	if (verify_team(&both, order, threads, 1, one, result, err) ||
	    train_right(&both, order, 2, one, result, err) ||
	    verify_team(&both, order, threads, 2, several, result, err))
		return -1;
	compare_parameters(task, several, one, result);
	return 0;
}

int verify_cores(const struct verify_task *task, struct verify_result *result,
		 struct error *err)
{
	const size_t count = model_parameter_count(task->model);
	float *one = malloc(count * sizeof(*one));
	float *several = malloc(count * sizeof(*several));
	int *order = malloc((size_t)task->dataset->train.count *
			    sizeof(*order));
	struct verify_task few = *task;
	int failed = -1;

	few.steps = STEPS;
	few.lr = RATE;

	if (!one || !several || !order) {
		error_memory(err, "the parameters to compare");
		goto out;
	}
	random_permutation((unsigned long long)task->options->seed,
			   task->dataset->train.count, order);
	failed = compare_teams(&few, order, one, several, result, err) ||
		 compare_measured(task, order, one, several, result, err);
out:
	free(one);
	free(several);
	free(order);
	return failed ? -1 : 0;
}
