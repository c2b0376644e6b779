#include "bench/verify/verify_parts.h"

#include <stdlib.h>
#include <string.h>

#include "bench/verify/verify_team.h"
#include "models/random.h"

#define MOST_TEAMS 3

/* The teams of a backend, or of a target's own cores, and their right
 * parameters. */
struct teams {
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

/* Takes the results of a launch. Compares the parameters of count teams from t
 * on; 0 if they are the expected ones. */
static void take_made(struct teams *all, int t, int count)
{
	const struct verify_task *task = all->tasks;
	const size_t each = model_parameter_count(&all->model);
	double errors[MODEL_MAX_TENSORS];

	all->result->masks_wrong += all->made->masks_wrong;
	all->result->replicas_differ |= all->made->replicas_differ;
	for (int i = 0; i < count; i++) {
		const int tensors = verify_tensor_errors(
			task, VERIFY_PARAMETERS,
			all->made->parameters + (size_t)i * each,
			all->right[t + i], errors);

		for (int k = 0; k < tensors; k++)
			verify_hold(&all->result->cores, errors[k],
				    task->cores_bound);
	}
}

/* One team, or what stands in for it, of number t. */
static int run_team(struct teams *all, int t, int in_turn,
		    const struct transport *by, int cores, struct error *err)
{
	const struct verify_team team = { &all->tasks[t], 1, all->order,
					  in_turn };
	const struct verify_job job = verify_team_job(&team, all->made);

	return verify_launch(&job, by, cores, err);
}

/* Computes expected parameters in a forked process: one core, or all cores in
 * turn. */
static int make_right(struct teams *all, int t, int in_turn,
		      struct error *err)
{
	const int failed = run_team(all, t, in_turn, transport_find("fork"), 1,
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

/* Computes the expected parameters: one core with all samples. With batch norm,
 * several cores differ from one. They differ in bf16, too, since a layer may
 * round its factors only from some number of samples on. The shares of all
 * cores are then computed in turn on this backend. The reference could decide
 * otherwise, and statistics of few values would amplify that. */
static int find_right(struct teams *all, int t, struct error *err)
{
	const int in_turn = (model_has_batchnorm(&all->model) ||
			     all->tasks[t].precision == PRECISION_BF16) &&
			    all->cores[t] > 1;

	if (t && !in_turn && is_same_work(&all->tasks[t], &all->tasks[t - 1])) {
		memcpy(all->right[t], all->right[t - 1],
		       model_parameter_count(&all->model) * sizeof(float));
		return 0;
	}
	/* Masks of one core are needed in either case. */
	if ((!t || !in_turn) && make_right(all, t, 0, err))
		return -1;
	return in_turn ? make_right(all, t, all->cores[t], err) : 0;
}

/* Teams from .. to - 1, whose most cores become *most. A device may have fewer
 * parts. */
static int compare_by(struct teams *all, int from, int to,
		      const struct transport *by, int *most, struct error *err)
{
	for (int t = from; t < to; t++) {
		const struct verify_task *task = &all->tasks[t];
		int failed;

		if (verify_check_signal(err, "before %d cores", all->cores[t]))
			return -1;
		failed = run_team(all, t, 0, by, all->cores[t], err);
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
static int compare_teams(struct teams *all, struct error *err)
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
		/* Only cores that all transports support are reported. */
		if (most < result->most_cores)
			result->most_cores = most;
	}
	if (result->most_cores == 1)
		result->cores = (struct verify_held){
			VERIFY_NOT_MEASURED, all->tasks->cores_bound };
	return compare_by(all, all->few, all->count, transport_find("threads"),
			  &most, err);
}

/* A target's own cores, by its transport; or this process is one of them. */
static int compare_own(struct teams *all, struct error *err)
{
	struct target *target = &all->result->target;
	const struct options *options = all->tasks->options;
	const struct verify_team team = { all->tasks, all->together,
					  all->order, 0 };
	const struct verify_job job = verify_team_job(&team, all->made);

	if (options->team)
		return verify_be_core(&job, target, options, all->tasks->log,
				      err);
	if (verify_check_signal(err, "before %d cores", target->cores) ||
	    verify_launch_own(&job, target, options, err))
		return -1;
	take_made(all, 0, all->together);
	return 0;
}

/* Plans the teams: for a backend two with small shares and one with large ones;
 * for a target's own cores one of each. */
static void plan_teams(struct teams *all, const struct verify_task *task)
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

static int allocate_all(struct teams *all)
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

static void release_all(struct teams *all)
{
	free(all->order);
	free(all->made);
	for (int t = 0; t < MOST_TEAMS; t++)
		free(all->right[t]);
}

/* Computes all expected values before the first team of threads. A forked
 * process lacks threads that a library has started, and would wait for them. */
int verify_cores(const struct verify_task *task, struct verify_result *result,
		 struct error *err)
{
	struct teams all = { .result = result };
	int failed;

	plan_teams(&all, task);
	failed = allocate_all(&all) &&
		 error_memory(err, "the parameters to compare");
	for (int t = 0; !failed && !task->options->team && t < all.count; t++)
		failed = verify_check_signal(err, "before 1 core") ||
			 find_right(&all, t, err);
	failed = failed || (result->own_cores ? compare_own(&all, err) :
						compare_teams(&all, err));
	release_all(&all);
	return failed ? -1 : 0;
}
