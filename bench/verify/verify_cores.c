#include "bench/verify/verify_cores.h"

#include <stdlib.h>
#include <string.h>

#include "backends/group/replica.h"
#include "bench/system/hash.h"
#include "models/random.h"

#define STEPS 2
/* What Adam makes of twice a gradient is the same step, and of one that is
 * nearly zero, by its rounding, one of either sign; but not with a large
 * epsilon, which shows what the sum over cores is. */
#define ADAM_EPS 1e-3
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

/* Only the last step moves the parameters: the optimizer's state has the sums
 * of all steps in it, and no decision of a later one differs by rounding. */
static struct update update_of(const struct verify_task *task, int step)
{
	return recipe_update(&task->model->recipe,
			     step == task->steps - 1 ? task->lr : 0,
			     (uint32_t)step);
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

/* Of each of so many cores. */
static struct program_options options_of(const struct verify_task *task,
					 int cores, int test_batch)
{
	return (struct program_options){
		.batch = replica_share(0, cores, task->batch),
		.test_batch = test_batch,
		.seed = (unsigned long long)task->options->seed,
		.dropout = task->options->dropout,
		.algorithm = task->algorithm,
		.precision = task->precision,
	};
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
	const struct program_options options =
		options_of(task, group->size, SAMPLES);
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
		const struct update update = update_of(task, s);

		verify_batch(task, member->team->order, s, member->group->rank,
			     member->group->size, &member->share, &batch);
		if (replica_train(member->group, member->program, &batch,
				  &update, NULL, &observer, &score, err) ||
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

/* Each core has running statistics of its own: all begin with the same. */
static int reset_statistics(struct member *member, struct error *err)
{
	const size_t count = member->program->buffers;
	float *fresh;
	int failed;

	if (!count)
		return 0;
	fresh = malloc(count * sizeof(*fresh));
	if (!fresh)
		return error_memory(err, "running statistics");
	model_init_buffers(member->team->task->model, fresh);
	failed = program_store(member->program, VECTOR_BUFFERS, fresh, err);
	free(fresh);
	return failed;
}

/* The parameters may be one copy for all: what a core has derived from them, as
 * kernels want them, is its own, and shows in the loss alone. */
static int describe_replica(struct member *member, struct replica *replica,
			    struct error *err)
{
	struct score score = { 0 };
	struct batch batch;

	verify_batch(member->team->task, member->team->order, STEPS, 0, 1,
		     &member->share, &batch);
	if (batch.count > SAMPLES)
		batch.count = SAMPLES;
	if (program_load(member->program, VECTOR_PARAMETERS, member->vector,
			 err) ||
	    reset_statistics(member, err) ||
	    program_evaluate(member->program, &batch, &score, err))
		return -1;
	replica->parameters = hash_bytes64(
		member->vector, member->program->parameters * sizeof(float));
	replica->loss = score.loss;
	return 0;
}

static int compare_replicas(struct member *member, struct error *err)
{
	struct replica mine, all[GROUP_MAX_SIZE];

	if (describe_replica(member, &mine, err) ||
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

/* One program that is all cores of a team, one after the other; in a process
 * of its own, as the cores. */
struct sequence {
	const struct verify_task *task;
	const int *order;
	int cores;
	float parameters[]; /* afterwards */
};

struct stand_in {
	const struct verify_task *task;
	struct device *device;
	struct program *program;
	struct share share;
	float *gradient, *sum;
	float *buffers; /* of each core, [cores][count] */
};

static int open_stand_in(struct stand_in *all, int cores, struct error *err)
{
	const struct verify_task *task = all->task;
	const struct device_request request = {
		.choice = task->device,
		.threads = 1,
		.cpus = VERIFY_MOST_CORES,
		.device_class = task->options->device_class,
	};
	const struct program_options options = options_of(task, cores, 1);
	const size_t count = model_parameter_count(task->model);
	const size_t buffers = model_buffer_count(task->model);

	all->gradient = malloc(count * sizeof(float));
	all->sum = malloc(count * sizeof(float));
	all->buffers = malloc((size_t)cores * buffers * sizeof(float) + 1);
	if (share_allocate(&all->share, task, task->batch) ||
	    !all->gradient || !all->sum || !all->buffers)
		return error_memory(err, "a core's batch");
	for (int r = 0; r < cores; r++)
		model_init_buffers(task->model,
				   all->buffers + (size_t)r * buffers);
	if (device_open(task->backend, &request, &all->device, err) ||
	    program_compile(all->device, task->model, &options, &all->program,
			    err))
		return -1;
	return replica_initialise(NULL, all->program, options.seed, err);
}

/* Adds the gradient of this core's share to the sum. */
static int stand_in_gradient(struct stand_in *all, const int *order, int step,
			     int rank, int cores, struct error *err)
{
	const size_t buffers = all->program->buffers;
	float *own = all->buffers + (size_t)rank * buffers;
	struct score score;
	struct batch batch;

	verify_batch(all->task, order, step, rank, cores, &all->share, &batch);
	if (program_store(all->program, VECTOR_BUFFERS, own, err) ||
	    program_gradient(all->program, &batch, err) ||
	    program_finish(all->program, &score, err) ||
	    program_load(all->program, VECTOR_BUFFERS, own, err) ||
	    program_load(all->program, VECTOR_GRADIENT, all->gradient, err))
		return -1;
	for (size_t i = 0; i < all->program->parameters; i++)
		all->sum[i] = rank ? all->sum[i] + all->gradient[i] :
				     all->gradient[i];
	return 0;
}

static int stand_in_train(struct stand_in *all, const int *order, int cores,
			  float *parameters, struct error *err)
{
	const struct verify_task *task = all->task;
	struct score ignored;

	for (int s = 0; s < task->steps; s++) {
		const struct update update = update_of(task, s);

		for (int r = 0; r < cores; r++)
			if (stand_in_gradient(all, order, s, r, cores, err))
				return -1;
		if (program_store(all->program, VECTOR_GRADIENT, all->sum,
				  err) ||
		    program_update(all->program, &update, err) ||
		    program_finish(all->program, &ignored, err))
			return -1;
	}
	return program_load(all->program, VECTOR_PARAMETERS, parameters, err);
}

static int sequence_body(struct group *group, void *context, struct error *err)
{
	struct sequence *sequence = context;
	struct stand_in all = { .task = sequence->task };
	const int failed = open_stand_in(&all, sequence->cores, err) ||
			   stand_in_train(&all, sequence->order,
					  sequence->cores,
					  sequence->parameters, err);

	(void)group;
	program_free(all.program);
	device_close(all.device);
	share_release(&all.share);
	free(all.gradient);
	free(all.sum);
	free(all.buffers);
	return failed ? -1 : 0;
}

static int train_sequence(const struct verify_task *task, const int *order,
			  int cores, float *parameters, struct error *err)
{
	const size_t bytes =
		model_parameter_count(task->model) * sizeof(*parameters);
	struct sequence *sequence;
	struct group_job job = { sequence_body, NULL,
				 sizeof(*sequence) + bytes, NULL };
	int failed;

	sequence = calloc(1, job.context_size);
	if (!sequence)
		return error_memory(err, "the cores to compare");
	sequence->task = task;
	sequence->order = order;
	sequence->cores = cores;
	job.context = sequence;
	failed = group_launch(transport_find("fork"), 1, &job, err);
	memcpy(parameters, sequence->parameters, bytes);
	free(sequence);
	return failed;
}

/* What teams are compared on, and with: their right parameters. */
struct comparison {
	const struct verify_task *few, *measured;
	int *order;
	float *right[VERIFY_MOST_CORES + 1]; /* few's, by cores */
	float *right_measured;
	float *several; /* what a team has made */
};

/* What is right with batch norm, where several cores are not one: what as many
 * of this backend make, one after the other. They decide alike, where the
 * reference may not, and statistics of few values would make much of that. */
static int train_sequences(struct comparison *all, struct error *err)
{
	for (int cores = 2; cores <= VERIFY_MOST_CORES; cores++)
		if (train_sequence(all->few, all->order, cores,
				   all->right[cores], err))
			return -1;
	return all->few->backend->offloads ? 0 :
		       train_sequence(all->measured, all->order, 2,
				      all->right_measured, err);
}

/* And without: what one core makes of all samples. All of it is before the
 * first team of threads: processes lack those that a library has started before
 * them, for which it would wait. */
static int find_right(struct comparison *all, struct verify_result *result,
		      struct error *err)
{
	const struct transport *fork = transport_find("fork");
	const size_t bytes =
		model_parameter_count(all->few->model) * sizeof(float);

	if (verify_team(all->few, all->order, fork, 1, all->right[2], result,
			err))
		return -1;
	if (model_has_batchnorm(all->few->model))
		return train_sequences(all, err);
	for (int cores = 3; cores <= VERIFY_MOST_CORES; cores++)
		memcpy(all->right[cores], all->right[2], bytes);
	return all->few->backend->offloads ? 0 :
		       verify_team(all->measured, all->order, fork, 1,
				   all->right_measured, result, err);
}

static void compare_parameters(const struct verify_task *task,
			       const float *several, const float *right,
			       struct verify_result *result)
{
	for (int t = 0; t < task->tensor_count; t++) {
		const size_t at = task->tensors[t].offset;

		verify_worsen(&result->cores,
			      verify_error(several + at, right + at,
					   task->tensors[t].count));
	}
}

/* 2 and 3 cores, whose most becomes *most. A device may have fewer parts. */
static int compare_by(struct comparison *all, const struct transport *by,
		      int *most, struct verify_result *result,
		      struct error *err)
{
	const struct verify_task *task = all->few;

	*most = 1;
	for (int cores = 2; cores <= VERIFY_MOST_CORES; cores++) {
		if (verify_check_signal(err, "before %d cores", cores))
			return -1;
		if (verify_team(task, all->order, by, cores, all->several,
				result, err))
			return task->backend->offloads &&
					       err->kind == ERROR_MISSING ?
				       0 : -1;
		*most = cores;
		compare_parameters(task, all->several, all->right[cores],
				   result);
	}
	return 0;
}

static int compare_teams(struct comparison *all, struct verify_result *result,
			 struct error *err)
{
	static const char *const transports[] = { "fork", "threads" };

	result->most_cores = VERIFY_MOST_CORES;
	for (size_t t = 0; t < sizeof(transports) / sizeof(transports[0]);
	     t++) {
		int most;

		if (compare_by(all, transport_find(transports[t]), &most,
			       result, err))
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
static int compare_measured(struct comparison *all,
			    struct verify_result *result, struct error *err)
{
	if (all->few->backend->offloads)
		return 0;
	if (verify_team(all->measured, all->order, transport_find("threads"), 2,
			all->several, result, err))
		return -1;
	compare_parameters(all->measured, all->several, all->right_measured,
			   result);
	return 0;
}

static int allocate_comparison(struct comparison *all)
{
	const struct verify_task *task = all->few;
	const size_t bytes = model_parameter_count(task->model) * sizeof(float);
	int missing;

	all->order = malloc((size_t)task->dataset->train.count *
			    sizeof(*all->order));
	all->several = malloc(bytes);
	all->right_measured = malloc(bytes);
	missing = !all->order || !all->several || !all->right_measured;
	for (int cores = 2; cores <= VERIFY_MOST_CORES; cores++) {
		all->right[cores] = malloc(bytes);
		missing |= !all->right[cores];
	}
	return missing ? -1 : 0;
}

int verify_cores(const struct verify_task *task, struct verify_result *result,
		 struct error *err)
{
	struct verify_task few = *task, measured = *task;
	struct model model = *task->model;
	struct comparison all = { .few = &few, .measured = &measured };
	int failed = -1;

	if (model.recipe.optimizer == OPTIMIZER_ADAM)
		model.recipe.eps = ADAM_EPS;
	few.model = measured.model = &model;
	few.steps = STEPS;
	measured.batch = 2 * task->measured_batch;
	measured.steps = 1;
	if (allocate_comparison(&all)) {
		error_memory(err, "the parameters to compare");
	} else {
		random_permutation((unsigned long long)task->options->seed,
				   task->dataset->train.count, all.order);
		failed = find_right(&all, result, err) ||
			 compare_teams(&all, result, err) ||
			 compare_measured(&all, result, err) ? -1 : 0;
	}
	free(all.order);
	free(all.several);
	free(all.right_measured);
	for (int cores = 0; cores <= VERIFY_MOST_CORES; cores++)
		free(all.right[cores]);
	return failed;
}
