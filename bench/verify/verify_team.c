#include "bench/verify/verify_team.h"

#include <stdlib.h>
#include <string.h>

#include "backends/parallel/replica.h"
#include "bench/system/hash.h"
#include "bench/verify/verify_side.h"
#include "models/random.h"

#define STEPS 2
/* Adam takes the same step for twice a gradient. If a gradient is nearly 0,
 * rounding decides the step's sign. A large epsilon makes the step depend on
 * the sum over cores. */
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

struct team_core {
	const struct verify_core *core;
	const struct verify_team *team;
	const struct verify_task *task; /* of the team's, the current one */
	struct side side;
	struct share share;
	uint8_t *decisions, *expected;
};

static void ignore_phase(struct replica_observer *observer,
			 enum replica_phase phase)
{
	(void)observer;
	(void)phase;
}

/* Only the last step moves the parameters. The optimizer's state has the sums
 * of all steps, and no later decision differs by rounding. */
static struct update update_of(const struct verify_task *task, int step)
{
	return recipe_update(&task->model->recipe,
			     step == task->steps - 1 ? task->lr : 0,
			     (uint32_t)step);
}

/* Dropout decisions of the share, against the generator's own. */
static int count_wrong_masks(struct team_core *member,
			     const struct batch *batch,
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
		if (program_decisions(member->side.program, l,
				      member->decisions, err))
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

/* A program that replaces a team has no group. */
static int open_member(struct team_core *member, struct error *err)
{
	const struct verify_task *task = member->task;
	const int in_turn = member->team->in_turn;
	const struct verify_core *core = in_turn ? NULL : member->core;
	struct group *group = member->core->group;
	const struct program_options options = side_options(
		task, replica_share(0, in_turn ? in_turn : group->size,
				    task->batch), SAMPLES);
	const size_t most = verify_most_decisions(task->model);
	const int samples = options.batch > SAMPLES ? options.batch : SAMPLES;

	member->decisions = malloc((size_t)samples * most);
	member->expected = malloc(most);
	if (share_allocate(&member->share, task, samples) ||
	    !member->decisions || !member->expected)
		return error_memory(err, "a core's batch");
	return side_open(&member->side, task, task->backend, &options, core,
			 err) ||
			       replica_initialise(core ? group : NULL,
						  member->side.program,
						  options.seed, err) ?
		       -1 : 0;
}

static void close_member(struct team_core *member)
{
	side_close(&member->side);
	share_release(&member->share);
	free(member->decisions);
	free(member->expected);
}

static int train(struct team_core *member, struct error *err)
{
	const struct verify_task *task = member->task;
	struct group *group = member->core->group;
	struct verify_made *made = member->core->made;
	struct replica_observer observer = { ignore_phase };
	long wrong = 0, all[GROUP_MAX_SIZE];
	struct score score;
	struct batch batch;

	for (int s = 0; s < task->steps; s++) {
		const struct update update = update_of(task, s);

		verify_batch(task, member->team->order, s, group->rank,
			     group->size, &member->share, &batch);
		if (replica_train(group, member->side.program, &batch, &update,
				  NULL, &observer, &score, err) ||
		    count_wrong_masks(member, &batch, &wrong, err))
			return -1;
	}
	if (group_gather(group, &wrong, sizeof(wrong), all, err))
		return -1;
	for (int r = 0; !group->rank && r < group->size; r++)
		made->masks_wrong += all[r];
	return 0;
}

/* Adds the gradient of a core's share to the sum; own: its statistics. */
static int add_share(struct team_core *member, int step, int rank, float *own,
		     float *sum, struct error *err)
{
	struct side *side = &member->side;
	struct score ignored;
	struct batch batch;

	verify_batch(member->task, member->team->order, step, rank,
		     member->team->in_turn, &member->share, &batch);
	if (program_store(side->program, VECTOR_BUFFERS, own, err) ||
	    side_gradient(side, &batch, &ignored, err) ||
	    program_load(side->program, VECTOR_BUFFERS, own, err))
		return -1;
	for (size_t i = 0; i < side->program->parameters; i++)
		sum[i] = rank ? sum[i] + side->gradient[i] : side->gradient[i];
	return 0;
}

/* buffers: of each core, one after the other. */
static int train_shares(struct team_core *member, float *buffers,
			struct error *err)
{
	const struct verify_task *task = member->task;
	const int cores = member->team->in_turn;
	struct program *program = member->side.program;
	float *sum = member->side.parameters;
	struct score ignored;

	for (int r = 0; r < cores; r++)
		model_init_buffers(task->model,
				   buffers + (size_t)r * program->buffers);
	for (int s = 0; s < task->steps; s++) {
		const struct update update = update_of(task, s);

		for (int r = 0; r < cores; r++)
			if (add_share(member, s, r, buffers + (size_t)r *
				      program->buffers, sum, err))
				return -1;
		if (program_store(program, VECTOR_GRADIENT, sum, err) ||
		    program_update(program, &update, err) ||
		    program_finish(program, &ignored, err))
			return -1;
	}
	return 0;
}

static int train_in_turn(struct team_core *member, struct error *err)
{
	struct verify_made *made = member->core->made;
	struct program *program = member->side.program;
	float *buffers = malloc((size_t)member->team->in_turn *
				program->buffers * sizeof(*buffers) + 1);
	int failed;

	if (!buffers)
		return error_memory(err, "a core's batch");
	failed = train_shares(member, buffers, err) ||
		 program_load(program, VECTOR_PARAMETERS, made->parameters,
			      err);
	free(buffers);
	return failed ? -1 : 0;
}

/* Values that must have the same bits on all cores. */
struct replica {
	uint64_t parameters; /* their hash */
	double loss;	     /* of the same samples */
};

/* Each core has running statistics of its own: all begin with equal ones. */
static int reset_statistics(struct team_core *member, struct error *err)
{
	struct program *program = member->side.program;
	float *fresh;
	int failed;

	if (!program->buffers)
		return 0;
	fresh = malloc(program->buffers * sizeof(*fresh));
	if (!fresh)
		return error_memory(err, "running statistics");
	model_init_buffers(member->task->model, fresh);
	failed = program_store(program, VECTOR_BUFFERS, fresh, err);
	free(fresh);
	return failed;
}

/* The cores may share one copy of the parameters. Values that a core derives
 * from them, such as packed weights, are its own and show only in its loss. */
static int describe_replica(struct team_core *member, struct replica *replica,
			    struct error *err)
{
	struct side *side = &member->side;
	struct verify_task few = *member->task;
	struct score score = { 0 };
	struct batch batch;

	few.batch = SAMPLES;
	verify_batch(&few, member->team->order, few.steps, 0, 1,
		     &member->share, &batch);
	if (program_load(side->program, VECTOR_PARAMETERS, side->parameters,
			 err) ||
	    reset_statistics(member, err) ||
	    program_evaluate(side->program, &batch, &score, err))
		return -1;
	replica->parameters = hash_bytes64(
		side->parameters, side->program->parameters * sizeof(float));
	replica->loss = score.loss;
	return 0;
}

static int compare_replicas(struct team_core *member, struct error *err)
{
	const size_t count = member->side.program->parameters;
	const size_t number = (size_t)(member->task - member->team->tasks);
	struct group *group = member->core->group;
	struct verify_made *made = member->core->made;
	struct replica mine, all[GROUP_MAX_SIZE];

	if (describe_replica(member, &mine, err) ||
	    group_gather(group, &mine, sizeof(mine), all, err))
		return -1;
	if (group->rank)
		return 0;
	for (int r = 1; r < group->size; r++)
		made->replicas_differ |=
			memcmp(&all[r], &all[0], sizeof(all[0])) != 0;
	memcpy(made->parameters + number * count, member->side.parameters,
	       count * sizeof(float));
	return 0;
}

static int train_task(struct team_core *member, struct error *err)
{
	if (open_member(member, err))
		return -1;
	if (member->team->in_turn)
		return train_in_turn(member, err);
	return train(member, err) || compare_replicas(member, err) ? -1 : 0;
}

static int team_body(const struct verify_core *core, struct error *err)
{
	const struct verify_team *team = core->context;

	for (int t = 0; t < team->count; t++) {
		struct team_core member = { .core = core, .team = team,
					 .task = &team->tasks[t] };
		const int failed = train_task(&member, err);

		close_member(&member);
		if (failed)
			return -1;
	}
	return 0;
}

size_t verify_made_size(const struct model *model, int count)
{
	return sizeof(struct verify_made) +
	       (size_t)count * model_parameter_count(model) * sizeof(float);
}

struct verify_job verify_team_job(const struct verify_team *team,
				  struct verify_made *made)
{
	return (struct verify_job){
		.body = team_body,
		.context = team,
		.made = made,
		.size = verify_made_size(team->tasks[0].model, team->count),
	};
}
