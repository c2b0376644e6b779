#include "bench/verify/verify_team.h"

#include <stdlib.h>
#include <string.h>

#include "backends/parallel/replica.h"
#include "bench/system/hash.h"
#include "models/random.h"

#define STEPS 2
/* What Adam makes of twice a gradient is the same step, and of one that is
 * nearly zero, by its rounding, one of either sign; but not with a large
 * epsilon, which shows what the sum over cores is. */
#define ADAM_EPS 1e-3
#define SAMPLES 8 /* of an evaluation afterwards */

void verify_team_model(struct model *model, const struct model *of)
{
	*model = *of;
	if (model->recipe.optimizer == OPTIMIZER_ADAM)
		model->recipe.eps = ADAM_EPS;
}

int verify_team_tasks(const struct verify_task *task, int cores,
		      const struct model *model,
		      struct verify_task tasks[VERIFY_TEAM_TASKS])
{
	struct verify_task *few = &tasks[0], *measured = &tasks[1];

	*few = *measured = *task;
	few->model = measured->model = model;
	few->steps = STEPS;
	/* One value has no variance. */
	if (model_lone_norm(model) >= 0 && few->batch < 2 * cores)
		few->batch = 2 * cores;
	measured->batch = cores * task->measured_batch;
	measured->steps = 1;
	return task->backend->offloads ? 1 : VERIFY_TEAM_TASKS;
}

/* Cores that train together, and what comes out of it: all in one piece, since
 * cores that are processes share nothing else. */
struct team {
	const struct verify_task *tasks; /* of one model */
	int count;			 /* of tasks */
	const int *order;
	int one_process;
};

/* It follows the team. */
static struct verify_made *made_of(struct team *team)
{
	return (struct verify_made *)(void *)(team + 1);
}

struct member {
	struct team *team;
	const struct verify_task *task; /* of the team's, the current one */
	float *parameters;		/* of rank 0 after it */
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

struct update verify_team_update(const struct verify_task *task, int step)
{
	return recipe_update(&task->model->recipe,
			     step == task->steps - 1 ? task->lr : 0,
			     (uint32_t)step);
}

/* Dropout decisions of the share, against the generator's own. */
static int count_wrong_masks(struct member *member, const struct batch *batch,
			     long *wrong, struct error *err)
{
	const struct verify_task *task = member->task;
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

struct program_options verify_team_options(const struct verify_task *task,
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
	const struct verify_task *task = member->task;
	const struct group *group = member->group;
	const struct device_request request = {
		.choice = task->device,
		.threads = member->team->one_process ? group->size : 1,
		.cpus = group->size > VERIFY_MOST_CORES ? group->size :
							  VERIFY_MOST_CORES,
		.device_class = task->options->device_class,
		.checked = task->checked,
	};
	const struct program_options options =
		verify_team_options(task, group->size, SAMPLES);
	const size_t count = model_parameter_count(task->model);
	const size_t most = verify_most_decisions(task->model);
	const int samples = options.batch > SAMPLES ? options.batch : SAMPLES;

	member->vector = calloc(count, sizeof(float));
	member->decisions = malloc((size_t)samples * most);
	member->expected = malloc(most);
	if (share_allocate(&member->share, task, samples) ||
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
	const struct verify_task *task = member->task;
	struct replica_observer observer = { ignore_phase };
	long wrong = 0, all[GROUP_MAX_SIZE];
	struct score score;
	struct batch batch;

	for (int s = 0; s < task->steps; s++) {
		const struct update update = verify_team_update(task, s);

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
		made_of(member->team)->masks_wrong += all[r];
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
	model_init_buffers(member->task->model, fresh);
	failed = program_store(member->program, VECTOR_BUFFERS, fresh, err);
	free(fresh);
	return failed;
}

/* The parameters may be one copy for all: what a core has derived from them, as
 * kernels want them, is its own, and shows in the loss alone. */
static int describe_replica(struct member *member, struct replica *replica,
			    struct error *err)
{
	struct verify_task few = *member->task;
	struct score score = { 0 };
	struct batch batch;

	few.batch = SAMPLES;
	verify_batch(&few, member->team->order, few.steps, 0, 1,
		     &member->share, &batch);
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
		made_of(member->team)->replicas_differ |=
			memcmp(&all[r], &all[0], sizeof(all[0])) != 0;
	memcpy(member->parameters, member->vector,
	       member->program->parameters * sizeof(float));
	return 0;
}

static int run_task(struct group *group, struct team *team, int t,
		    struct error *err)
{
	const struct verify_task *task = &team->tasks[t];
	struct member member = {
		.team = team,
		.task = task,
		.parameters = made_of(team)->parameters +
			      (size_t)t * model_parameter_count(task->model),
		.group = group,
	};
	int failed = open_member(&member, err) || train(&member, err) ||
		     compare_replicas(&member, err);

	close_member(&member);
	return failed ? -1 : 0;
}

static int team_body(struct group *group, void *context, struct error *err)
{
	struct team *team = context;

	for (int t = 0; t < team->count; t++)
		if (run_task(group, team, t, err))
			return -1;
	return 0;
}

size_t verify_made_size(const struct model *model, int count)
{
	return sizeof(struct verify_made) +
	       (size_t)count * model_parameter_count(model) * sizeof(float);
}

int verify_team(const struct verify_task *tasks, int count, const int *order,
		const struct transport *transport, int cores,
		struct verify_made *made, struct error *err)
{
	const size_t size = verify_made_size(tasks[0].model, count);
	struct team *team = calloc(1, sizeof(*team) + size);
	const struct group_job job = { team_body, team, sizeof(*team) + size,
				       NULL };
	int failed;

	if (!team)
		return error_memory(err, "the cores to compare");
	team->tasks = tasks;
	team->count = count;
	team->order = order;
	team->one_process = transport->one_process;
	failed = group_launch(transport, cores, &job, err);
	memcpy(made, made_of(team), size);
	free(team);
	return failed;
}
