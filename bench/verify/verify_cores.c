#include "bench/verify/verify_cores.h"

#include <stdlib.h>
#include <string.h>

#include "backends/parallel/replica.h"
#include "bench/verify/verify_ranks.h"
#include "bench/verify/verify_team.h"
#include "models/random.h"

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
	const struct program_options options =
		verify_team_options(task, cores, 1);
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
		const struct update update = verify_team_update(task, s);

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

#define MOST_TEAMS 3

/* The teams of a backend, or of a target's own cores, and their right
 * parameters. */
struct comparison {
	struct verify_result *result;
	struct model model; /* of the tasks */
	struct verify_task tasks[MOST_TEAMS];
	int cores[MOST_TEAMS], count;
	int few;      /* of them, from the first, have small shares */
	int together; /* teams that one launch makes */
	int *order;
	float *right[MOST_TEAMS];
	struct verify_made *made; /* by these */
};

/* Teams from t on that one launch has made: their parameters, unless those are
 * the right ones themselves, are compared. */
static void take_made(struct comparison *all, int t, int count)
{
	const size_t each = model_parameter_count(&all->model);

	all->result->masks_wrong += all->made->masks_wrong;
	all->result->replicas_differ |= all->made->replicas_differ;
	for (int i = 0; i < count; i++)
		for (int k = 0; k < all->tasks[t].tensor_count; k++)
			verify_worsen(&all->result->cores, verify_tensor_error(
					&all->tasks[t], k,
					all->made->parameters +
						(size_t)i * each,
					all->right[t + i]));
}

/* One core of a process of its own. */
static int train_alone(struct comparison *all, int t, struct error *err)
{
	const int failed = verify_team(&all->tasks[t], 1, all->order,
				       transport_find("fork"), 1, all->made,
				       err);

	take_made(all, t, 0);
	memcpy(all->right[t], all->made->parameters,
	       model_parameter_count(&all->model) * sizeof(float));
	return failed;
}

static int is_same_work(const struct verify_task *a,
			const struct verify_task *b)
{
	return a->batch == b->batch && a->steps == b->steps;
}

/* What one core makes of all samples. With batch norm several cores are not
 * one: it is what as many of this backend make, one after the other. They
 * decide alike, where the reference may not, and statistics of few values would
 * make much of that. */
static int find_right(struct comparison *all, int t, struct error *err)
{
	const int in_turn = model_has_batchnorm(&all->model) &&
			    all->cores[t] > 1;

	if (t && !in_turn && is_same_work(&all->tasks[t], &all->tasks[t - 1])) {
		memcpy(all->right[t], all->right[t - 1],
		       model_parameter_count(&all->model) * sizeof(float));
		return 0;
	}
	/* Masks of one core, whatever is right for several. */
	if ((!t || !in_turn) && train_alone(all, t, err))
		return -1;
	return in_turn ? train_sequence(&all->tasks[t], all->order,
					all->cores[t], all->right[t], err) :
			 0;
}

/* Teams from .. to - 1, whose most cores become *most. A device may have fewer
 * parts. */
static int compare_by(struct comparison *all, int from, int to,
		      const struct transport *by, int *most, struct error *err)
{
	for (int t = from; t < to; t++) {
		const struct verify_task *task = &all->tasks[t];
		int failed;

		if (verify_check_signal(err, "before %d cores", all->cores[t]))
			return -1;
		failed = verify_team(task, 1, all->order, by, all->cores[t],
				     all->made, err);
		if (failed)
			return task->backend->offloads &&
					       err->kind == ERROR_MISSING ?
				       0 : -1;
		*most = all->cores[t];
		take_made(all, t, 1);
	}
	return 0;
}

/* Small shares by both transports, and two cores by threads that have a whole
 * measured batch each. */
static int compare_teams(struct comparison *all, struct error *err)
{
	static const char *const transports[] = { "fork", "threads" };
	struct verify_result *result = all->result;
	int most;

	result->most_cores = VERIFY_MOST_CORES;
	for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]);
	     i++) {
		most = 1;
		if (compare_by(all, 0, all->few, transport_find(transports[i]),
			       &most, err))
			return -1;
		/* Only what all of them could is said to be equal. */
		if (most < result->most_cores)
			result->most_cores = most;
	}
	if (result->most_cores == 1)
		result->cores = VERIFY_NOT_MEASURED;
	return compare_by(all, all->few, all->count, transport_find("threads"),
			  &most, err);
}

struct own_team {
	struct verify_job job; /* first */
	const struct verify_task *tasks;
	int count;
	const int *order;
};

static int run_own(const struct verify_job *job,
		   const struct transport *transport, int cores,
		   struct error *err)
{
	const struct own_team *team = (const struct own_team *)job;

	return verify_team(team->tasks, team->count, team->order, transport,
			   cores, job->made, err);
}

static struct own_team own_team_of(const struct comparison *all)
{
	return (struct own_team){
		.job = { run_own, all->made,
			 verify_made_size(&all->model, all->together) },
		.tasks = all->tasks,
		.count = all->together,
		.order = all->order,
	};
}

/* A target's own cores, by its transport. */
static int compare_own(struct comparison *all, struct error *err)
{
	struct target *target = &all->result->target;
	const struct own_team team = own_team_of(all);

	if (verify_check_signal(err, "before %d cores", target->cores) ||
	    verify_own_cores(&team.job, target, all->tasks->options, err))
		return -1;
	take_made(all, 0, all->together);
	return 0;
}

/* For a backend two teams with small shares, and one with large ones; for a
 * target's own cores one of each. */
static void plan_teams(struct comparison *all, const struct verify_task *task)
{
	const int own = all->result->own_cores;
	const int least = own ? all->result->target.cores : 2;
	const int most = own ? least : VERIFY_MOST_CORES;
	struct verify_task tasks[VERIFY_TEAM_TASKS];
	int count;

	verify_team_model(&all->model, task->model);
	for (int cores = least; cores <= most; cores++) {
		verify_team_tasks(task, cores, &all->model, tasks);
		all->cores[all->few] = cores;
		all->tasks[all->few++] = tasks[0];
	}
	count = verify_team_tasks(task, least, &all->model, tasks);
	all->count = all->few;
	for (int t = 1; t < count; t++) {
		all->cores[all->count] = least;
		all->tasks[all->count++] = tasks[t];
	}
	all->together = own ? all->count : 1;
}

static int allocate_all(struct comparison *all)
{
	const size_t bytes = model_parameter_count(&all->model) *
			     sizeof(float);
	const struct verify_task *task = all->tasks;
	const int samples = task->dataset->train.count;
	int missing;

	all->order = malloc((size_t)samples * sizeof(*all->order));
	all->made = calloc(1, verify_made_size(&all->model, all->together));
	missing = !all->order || !all->made;
	for (int t = 0; t < all->count; t++) {
		all->right[t] = malloc(bytes);
		missing |= !all->right[t];
	}
	if (!missing)
		random_permutation((unsigned long long)task->options->seed,
				   samples, all->order);
	return missing ? -1 : 0;
}

static void release_all(struct comparison *all)
{
	free(all->order);
	free(all->made);
	for (int t = 0; t < MOST_TEAMS; t++)
		free(all->right[t]);
}

/* All that is right is made before the first team of threads: processes lack
 * those that a library has started before them, for which it would wait. */
int verify_cores(const struct verify_task *task, struct verify_result *result,
		 struct error *err)
{
	struct comparison all = { .result = result };
	int failed;

	plan_teams(&all, task);
	failed = allocate_all(&all) &&
		 error_memory(err, "the parameters to compare");
	for (int t = 0; !failed && t < all.count; t++)
		failed = verify_check_signal(err, "before 1 core") ||
			 find_right(&all, t, err);
	failed = failed || (result->own_cores ? compare_own(&all, err) :
						compare_teams(&all, err));
	release_all(&all);
	return failed ? -1 : 0;
}

int verify_be_team(const struct verify_task *task, struct verify_result *result,
		   FILE *log, struct error *err)
{
	struct comparison all = { .result = result };
	int failed = -1;

	plan_teams(&all, task);
	if (allocate_all(&all)) {
		error_memory(err, "the parameters to compare");
	} else {
		const struct own_team team = own_team_of(&all);

		failed = verify_be_core(&team.job, &result->target,
					task->options, log, err);
	}
	release_all(&all);
	return failed;
}
