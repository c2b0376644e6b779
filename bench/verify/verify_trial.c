#include "bench/verify/verify_trial.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "backends/parallel/replica.h"
#include "bench/verify/verify_parts.h"
#include "bench/verify/verify_rounding.h"
#include "bench/verify/verify_team.h"

#define TESTED 8 /* samples of an evaluation */
#define PASSED 4 /* samples of a forward pass */
#define LEAST 1e-5
/* Computations by plain loops in float. A batch norm may amplify the rounding
 * of Winograd's algorithm. In one of 18000 networks the largest of 16 explains
 * too little (1.03 of the bound), the largest of 64 enough (.94). */
#define ROUNDINGS 64
#define LATER 3 /* an iteration, from 0, that is not the first */

/* One network on one backend. */
struct trial {
	const struct random_model *drawn;
	struct trial_result *found;
	struct verify_task task;
	struct options options;
	struct dataset dataset;
	int *order;
	struct side *tried, *right, *single; /* the sides of the bench */
	struct share share;
	float *vectors[3]; /* loaded, one of each side */
	float *sum;	   /* of the cores' gradients */
	float *start;	   /* parameters before the update */
	struct rounding rounding; /* of one core */
	double sum_rounding[MODEL_MAX_TENSORS]; /* of all cores */
	uint8_t *decisions;
	struct verify_made *made; /* by all cores */
};

static int allocate_all(struct trial *trial)
{
	const struct random_model *drawn = trial->drawn;
	const size_t parameters = model_parameter_count(&drawn->model);
	const size_t buffers = model_buffer_count(&drawn->model);
	const size_t longest = parameters > buffers ? parameters : buffers;
	const int most = drawn->batch > TESTED ? drawn->batch : TESTED;
	struct dataset *dataset = &trial->dataset;

	for (int s = 0; s < 3; s++)
		trial->vectors[s] = calloc(longest + 1, sizeof(float));
	trial->sum = calloc(parameters, sizeof(float));
	trial->start = calloc(parameters, sizeof(float));
	trial->decisions = malloc((size_t)most *
				  verify_most_decisions(&drawn->model));
	trial->order = malloc(((size_t)drawn->batch + TESTED) * sizeof(int));
	trial->made = calloc(1, verify_made_size(&drawn->model, 1));
	if (random_model_samples(drawn, TESTED, dataset) ||
	    share_allocate(&trial->share, &trial->task, most) ||
	    !trial->vectors[0] || !trial->vectors[1] || !trial->vectors[2] ||
	    !trial->sum || !trial->start || !trial->decisions ||
	    !trial->order || !trial->made)
		return -1;
	for (int i = 0; i < dataset->train.count; i++)
		trial->order[i] = i;
	return 0;
}

static int prepare(struct trial *trial, struct trial_bench *bench,
		   struct error *err)
{
	const struct random_model *drawn = trial->drawn;
	struct verify_task *task = &trial->task;

	trial->options = *bench->options;
	trial->options.seed = (long)(drawn->seed % SEED_MOST);
	trial->options.dropout = 1;
	*task = (struct verify_task){
		.model = &drawn->model,
		.dataset = &trial->dataset,
		.backend = bench->target->backend,
		.device = bench->target->device[0] ? bench->target->device :
						     NULL,
		.options = &trial->options,
		.batch = drawn->batch,
		.test_batch = TESTED,
		.steps = 1,
		.lr = drawn->model.recipe.lr,
		.checked = bench->checked,
	};
	/* Every fourth one with every multiplication. */
	task->algorithm = backend_algorithm(task->backend,
					    bench->options->algorithm);
	if (!bench->options->algorithm && drawn->seed % 4 == 3 &&
	    task->backend->algorithms >> ALGORITHM_DENSE & 1)
		task->algorithm = ALGORITHM_DENSE;
	task->tensor_count = model_tensors(task->model, task->tensors);
	trial->tried = &bench->tried;
	trial->right = &bench->right;
	trial->single = &bench->single;
	if (allocate_all(trial))
		return error_memory(err, "a random network's batch");
	return side_open_steps(trial->tried, task, task->backend,
			       task->precision, err) ||
			       side_open_steps(trial->right, task,
					       backend_reference(),
					       PRECISION_FP64, err) ||
			       side_open_steps(trial->single, task,
					       backend_single(),
					       PRECISION_FP32, err) ?
		       -1 : 0;
}

static void release_all(struct trial *trial)
{
	share_release(&trial->share);
	for (int s = 0; s < 3; s++)
		free(trial->vectors[s]);
	free(trial->sum);
	free(trial->start);
	free(trial->decisions);
	free(trial->order);
	free(trial->made);
	dataset_release(&trial->dataset);
}

/* Keeps ratio, an error over its bound, and its place if it is the worst so
 * far. */
__attribute__((format(printf, 3, 4)))
static void keep(struct trial *trial, double ratio, const char *format, ...)
{
	va_list list;

	if (!isnan(ratio) && !(ratio > trial->found->worst))
		return;
	/* NAN stays the worst. */
	trial->found->worst = isnan(ratio) ? INFINITY : ratio;
	va_start(list, format);
	vsnprintf(trial->found->what, sizeof(trial->found->what), format, list);
	va_end(list);
}

/* Returns the error of one tensor over its bound. rounding: distance of the
 * plain loops; scale: LEAST is relative to it. */
static double error_of(const float *tried, const float *right, size_t count,
		       double rounding, double scale)
{
	const double bound = fmax(VERIFY_OF_MOVES * rounding, LEAST * scale);
	const double error = verify_distance(tried, right, count);

	return error > 0 || isnan(error) ? error / bound : 0;
}

static void compare_gradients(struct trial *trial, int rank)
{
	const struct verify_task *task = &trial->task;

	for (int t = 0; t < task->tensor_count; t++) {
		const struct tensor *tensor = &task->tensors[t];
		const size_t at = tensor->offset;
		const double scale =
			verify_scale(task, t, trial->right->gradient);

		keep(trial, error_of(trial->tried->gradient + at,
				     trial->right->gradient + at, tensor->count,
				     trial->rounding.gradients[t], scale),
		     "the gradient of %s on core %d", tensor->name, rank);
	}
}

static void compare_decisions(struct trial *trial, int rank)
{
	const struct model *model = trial->task.model;
	const double least = model_has_batchnorm(model) ? 1e-4 : LEAST;

	for (int l = 0; l < model->layer_count; l++) {
		const double bound = fmax(least, VERIFY_OF_MOVES *
						 trial->rounding.regrets[l]);
		char where[80];

		layer_describe(model, l, where, sizeof(where));
		keep(trial, program_regret(trial->right->program, l) / bound,
		     "a decision of %s on core %d", where, rank);
	}
}

/* A mean may be 0 although its values are not: their size is the scale. */
static int compare_buffers(struct trial *trial, int rank, struct error *err)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_buffers(trial->task.model, tensors);

	if (program_load(trial->tried->program, VECTOR_BUFFERS,
			 trial->vectors[0], err) ||
	    program_load(trial->right->program, VECTOR_BUFFERS,
			 trial->vectors[1], err))
		return -1;
	for (int t = 0; t < count; t++) {
		const size_t at = tensors[t].offset;
		const float *right = trial->vectors[1];
		double scale = verify_largest(right + at, tensors[t].count);

		if (t % 2 == 0) {
			const double variance =
				verify_largest(right + tensors[t + 1].offset,
					       tensors[t + 1].count);

			scale = fmax(scale,
				     BATCHNORM_MOMENTUM * sqrt(variance));
		}
		keep(trial, error_of(trial->vectors[0] + at, right + at,
				     tensors[t].count,
				     trial->rounding.buffers[t], scale),
		     "%s on core %d", tensors[t].name, rank);
	}
	return 0;
}

static int start_alike(struct trial *trial, struct error *err)
{
	const unsigned long long seed =
		(unsigned long long)trial->options.seed;

	return replica_initialise(NULL, trial->tried->program, seed, err) ||
	       replica_initialise(NULL, trial->right->program, seed, err);
}

static void compare_losses(struct trial *trial, const char *what,
			   const struct score *tried,
			   const struct score *right, double rounding)
{
	const double bound = fmax(VERIFY_OF_MOVES * rounding,
				  LEAST * fabs(right->loss));
	const double error = fabs(tried->loss - right->loss);

	keep(trial, error > 0 || isnan(error) ? error / bound : 0, "%s", what);
}

/* Compares the samples and the right answers. One answer may differ, if two
 * outputs are nearly the largest. */
static void compare_counts(struct trial *trial, const char *what,
			   const struct score *tried, const struct score *right)
{
	if (tried->count != right->count)
		keep(trial, INFINITY, "%s of %ld samples, but there are %ld",
		     what, tried->count, right->count);
	if (labs(tried->correct - right->correct) > 1)
		keep(trial, INFINITY, "%s, with %ld right answers, but there "
		     "are %ld", what, tried->correct, right->correct);
}

/* Compares all results of a share; the rounding is the largest of times
 * computations. */
static int compare_share(struct trial *trial, const struct batch *batch,
			 int rank, int times, const struct score *tried,
			 const struct score *right, struct error *err)
{
	const struct rounding_task task = {
		.verify = &trial->task,
		.batch = batch,
		.tried = trial->tried,
		.right = trial->right,
		.single = trial->single,
		.decisions = trial->decisions,
		.vectors = { trial->vectors[1], trial->vectors[2] },
	};

	if (rounding_measure(&trial->rounding, &task, right->loss, times,
			     err) ||
	    compare_buffers(trial, rank, err))
		return -1;
	compare_gradients(trial, rank);
	compare_decisions(trial, rank);
	compare_losses(trial, "the loss", tried, right, trial->rounding.loss);
	return 0;
}

/* The gradient of one core's share, on all sides; the sum takes it in. */
static int try_share(struct trial *trial, int rank, struct error *err)
{
	const struct verify_task *task = &trial->task;
	const size_t parameters = model_parameter_count(task->model);
	const double worst = trial->found->worst;
	struct score tried, right;
	struct batch batch;

	verify_batch(task, trial->order, 0, rank, trial->drawn->cores,
		     &trial->share, &batch);
	if (start_alike(trial, err) ||
	    side_gradient(trial->tried, &batch, &tried, err) ||
	    side_follow(trial->right, trial->tried, trial->decisions, err) ||
	    side_follow(trial->single, trial->tried, trial->decisions, err) ||
	    side_gradient(trial->right, &batch, &right, err) ||
	    compare_share(trial, &batch, rank, 1, &tried, &right, err))
		return -1;
	if (worst <= 1 && trial->found->worst > 1) {
		trial->found->worst = worst;
		trial->found->is_moved = 1;
		if (compare_share(trial, &batch, rank, ROUNDINGS, &tried,
				  &right, err))
			return -1;
	}
	compare_counts(trial, "the loss", &tried, &right);
	for (int t = 0; t < task->tensor_count; t++)
		trial->sum_rounding[t] += trial->rounding.gradients[t];
	for (size_t i = 0; i < parameters; i++)
		trial->sum[i] += trial->tried->gradient[i]; /* as cores do */
	return 0;
}

/* Returns how much a first step can grow with the gradient, at most. */
static double steepness(const struct recipe *recipe)
{
	return recipe->optimizer == OPTIMIZER_ADAM ? recipe->lr / recipe->eps :
						     recipe->lr;
}

/* Compares vectors after a step; errors are relative to scaled. gradients:
 * tolerance in roundings of the gradient. nothing: part of any tensor's largest
 * entry that is negligible. */
static void compare_left(struct trial *trial, const float *tried,
			 const float *right, const float *single,
			 const float *scaled, double gradients, double nothing,
			 const char *before, const char *after)
{
	const struct verify_task *task = &trial->task;

	for (int t = 0; t < task->tensor_count; t++) {
		const size_t at = task->tensors[t].offset;
		const size_t count = task->tensors[t].count;
		/* The last but one: of a float that is stored. */
		const double rounding =
			verify_distance(single + at, right + at, count) +
			gradients * trial->sum_rounding[t] +
			verify_largest(right + at, count) * FLT_EPSILON / 2 +
			nothing;

		keep(trial, error_of(tried + at, right + at, count, rounding,
				     verify_scale(task, t, scaled)),
		     "%s of %s %s", before, task->tensors[t].name, after);
	}
}

/* Compares the changes by an update. */
static void compare_changes(struct trial *trial, const float *tried,
			    double gradients, const char *what)
{
	const size_t parameters = model_parameter_count(trial->task.model);
	const float *right = trial->right->parameters;
	float *changes = trial->vectors[2];

	for (size_t i = 0; i < parameters; i++)
		changes[i] = right[i] - trial->start[i];
	compare_left(trial, tried, right, trial->single->parameters, changes,
		     gradients, 0, "what has changed", what);
}

/* Stores equal values on all sides. */
static int store_all(struct trial *trial, enum vector vector,
		     const float *values, struct error *err)
{
	return program_store(trial->tried->program, vector, values, err) ||
	       program_store(trial->right->program, vector, values, err) ||
	       program_store(trial->single->program, vector, values, err);
}

/* Updates all sides with the same gradient, the sum over cores. */
static int update_all(struct trial *trial, uint32_t step, struct error *err)
{
	const struct verify_task *task = &trial->task;
	const struct update update =
		recipe_update(&task->model->recipe, task->lr, step);

	return store_all(trial, VECTOR_GRADIENT, trial->sum, err) ||
	       side_update(trial->tried, &update, err) ||
	       side_update(trial->right, &update, err) ||
	       side_update(trial->single, &update, err);
}

static int try_update(struct trial *trial, struct error *err)
{
	if (program_load(trial->right->program, VECTOR_PARAMETERS,
			 trial->start, err) ||
	    program_store(trial->single->program, VECTOR_PARAMETERS,
			  trial->start, err) ||
	    update_all(trial, 0, err))
		return -1;
	compare_changes(trial, trial->tried->parameters, 0, "by the update");
	return 0;
}

/* Trains with all cores, or on one core with gradient and update in one call.
 * The parameters must be as in try_update(), except for rounding of
 * gradients. */
static int try_training(struct trial *trial, struct error *err)
{
	const char *by = trial->drawn->cores > 1 ? "threads" : "self";
	struct verify_made *made = trial->made;
	const struct verify_team team = { &trial->task, 1, trial->order, 0 };
	const struct verify_job job = verify_team_job(&team, made);

	if (verify_launch(&job, transport_find(by), trial->drawn->cores,
			  err)) {
		/* A device may have fewer parts. */
		trial->found->is_alone = trial->drawn->cores > 1 &&
				  trial->task.backend->offloads &&
				  err->kind == ERROR_MISSING;
		return trial->found->is_alone ? 0 : -1;
	}
	if (made->masks_wrong)
		keep(trial, INFINITY, "%ld dropout decisions",
		     made->masks_wrong);
	if (made->replicas_differ)
		keep(trial, INFINITY, "replicas differ");
	compare_changes(trial, made->parameters,
			steepness(&trial->task.model->recipe),
			"by a step of all cores");
	return 0;
}

/* Evaluates on all sides with equal parameters and statistics. */
static int try_evaluation(struct trial *trial, struct error *err)
{
	struct score scores[3] = { { 0 } };
	struct batch batch;

	verify_test_batch(&trial->task, 0, TESTED, &trial->share, &batch);
	if (program_load(trial->right->program, VECTOR_BUFFERS,
			 trial->vectors[0], err) ||
	    store_all(trial, VECTOR_PARAMETERS, trial->right->parameters,
		      err) ||
	    store_all(trial, VECTOR_BUFFERS, trial->vectors[0], err) ||
	    program_evaluate(trial->tried->program, &batch, &scores[0], err) ||
	    program_evaluate(trial->right->program, &batch, &scores[1], err) ||
	    program_evaluate(trial->single->program, &batch, &scores[2], err))
		return -1;
	compare_losses(trial, "the test loss", &scores[0], &scores[1],
		       fabs(scores[2].loss - scores[1].loss));
	compare_counts(trial, "the test", &scores[0], &scores[1]);
	return 0;
}

static int pass_forward(struct trial *trial, enum precision precision,
			struct error *err)
{
	struct verify_task task = trial->task;
	struct verify_result result = { 0 };
	const struct verify_passes *passes = &result.passes;
	const char *name = precision_name(precision);

	task.precision = precision;
	task.measured_batch = PASSED;
	task.bound = LEAST;
	task.right = backend_in_double();
	if (!task.right || task.right == task.backend)
		task.right = backend_reference();
	/* Dense kernels are of fp32. */
	if (precision == PRECISION_BF16 && task.algorithm == ALGORITHM_DENSE &&
	    trial->options.algorithm)
		return 0;
	if (precision == PRECISION_BF16)
		task.algorithm = backend_algorithm(task.backend, NULL);
	if (verify_infer(&task, &result, err)) {
		/* A machine may lack it, and so may the kernels of a network;
		 * or a signal came. */
		if (err->kind != ERROR_MISSING && err->kind != ERROR_STOPPED)
			return -1;
		err->message[0] = '\0';
		return 0;
	}
	keep(trial, passes->outputs.error / passes->outputs.bound,
	     "an output of forward passes in %s", name);
	keep(trial, passes->scale.error / passes->scale.bound,
	     "the size of outputs of forward passes in %s", name);
	if (passes->folded.error != VERIFY_NOT_MEASURED)
		keep(trial, passes->folded.error / LEAST,
		     "an output, by folding norms");
	if (isnan(passes->correct.error))
		keep(trial, INFINITY, "the number of samples passed forward");
	return 0;
}

/* Passes samples forward as bench infer does, in fp32, in bf16 and in one of
 * two other precisions in turn. A device, which compiles kernels for each, gets
 * one of them. */
static int try_inference(struct trial *trial, struct error *err)
{
	const unsigned long long seed = trial->drawn->seed;
	const enum precision all[] = {
		PRECISION_FP32, PRECISION_BF16,
		seed / 3 % 2 ? PRECISION_FP16 : PRECISION_BF16_STORAGE,
	};
	const struct backend *backend = trial->task.backend;

	for (unsigned p = 0; p < 3; p++)
		if (backend->precisions >> all[p] & 1 &&
		    (!backend->offloads || p == seed % 3) &&
		    pass_forward(trial, all[p], err))
			return -1;
	return 0;
}

/* Makes one of two optimizer states, as in late iterations, from gradients of
 * neighbours. Averages of squares are positive. */
static void make_state(const struct trial *trial, int which, float *state)
{
	const struct model *model = trial->task.model;
	const size_t count = model_parameter_count(model);
	const float least = (float)verify_largest(trial->sum, count) / 10;
	const int is_square = model->recipe.optimizer == OPTIMIZER_ADADELTA ||
			      (model->recipe.optimizer == OPTIMIZER_ADAM &&
			       which == 1);

	for (size_t i = 0; i < count; i++) {
		const float g = trial->sum[(i + 1 + (size_t)which) % count];

		state[i] = is_square ? g * g + least * least : g;
	}
}

static int compare_state(struct trial *trial, int which, struct error *err)
{
	const enum vector vector = (enum vector)(VECTOR_STATE_0 + which);
	const struct recipe *recipe = &trial->task.model->recipe;
	/* Adadelta adds eps to its states. */
	const double nothing = recipe->optimizer == OPTIMIZER_ADADELTA ?
		recipe->eps * FLT_EPSILON / VERIFY_OF_MOVES : 0;
	float *const *states = trial->vectors; /* tried, right, single */

	if (program_load(trial->tried->program, vector, states[0], err) ||
	    program_load(trial->right->program, vector, states[1], err) ||
	    program_load(trial->single->program, vector, states[2], err))
		return -1;
	compare_left(trial, states[0], states[1], states[2], states[1], 0,
		     nothing, which ? "state 1" : "state 0",
		     "after a later update");
	return 0;
}

/* The same update again, from a state that is not 0, of a later iteration. */
static int try_later_update(struct trial *trial, struct error *err)
{
	make_state(trial, 0, trial->vectors[0]);
	make_state(trial, 1, trial->vectors[1]);
	if (store_all(trial, VECTOR_PARAMETERS, trial->start, err) ||
	    store_all(trial, VECTOR_STATE_0, trial->vectors[0], err) ||
	    store_all(trial, VECTOR_STATE_1, trial->vectors[1], err) ||
	    update_all(trial, LATER, err))
		return -1;
	compare_changes(trial, trial->tried->parameters, 0,
			"by a later update");
	return compare_state(trial, 0, err) || compare_state(trial, 1, err) ?
		       -1 : 0;
}

int trial_run(struct trial_bench *bench, const struct random_model *drawn,
	      struct trial_result *result, struct error *err)
{
	struct trial trial = { .drawn = drawn, .found = result };
	int failed;

	*result = (struct trial_result){ 0 };
	failed = prepare(&trial, bench, err);
	result->is_dense = trial.task.algorithm == ALGORITHM_DENSE;
	for (int r = 0; !failed && r < drawn->cores; r++)
		failed = try_share(&trial, r, err);
	failed = failed || try_update(&trial, err) ||
		 try_evaluation(&trial, err) || try_training(&trial, err) ||
		 try_later_update(&trial, err) || try_inference(&trial, err);
	release_all(&trial);
	if (!failed && drawn->cores > bench->checked)
		bench->checked = drawn->cores;
	return failed ? -1 : 0;
}

void trial_close_programs(struct trial_bench *bench)
{
	side_close_program(&bench->tried);
	side_close_program(&bench->right);
	side_close_program(&bench->single);
}

void trial_close(struct trial_bench *bench)
{
	side_close(&bench->tried);
	side_close(&bench->right);
	side_close(&bench->single);
}
