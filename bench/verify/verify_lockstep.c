#include "bench/verify/verify_lockstep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/group/replica.h"
#include "bench/data/loader.h"
#include "bench/verify/verify_side.h"
#include "models/random.h"

#define NUDGES 2
#define OF_NUDGES 8 /* as random networks have it of rounding, verify_trial.c */
#define MOST_EXPLAINED 10 /* of the bound: beyond, a check would show nothing */

struct pair {
	const struct verify_task *task;
	struct verify_errors *errors;
	struct side tried, right;
	struct share share;
	float *vector;			/* of parameters, or of buffers */
	float *tried_buffers, *buffers; /* that a gradient has left */
	float *before[VECTORS];		/* a step, but the gradient */
	/* What rounding explains, of each tensor's largest entry: of gradients,
	 * of buffers. 0 until an error is over its bound. */
	int nudges;
	double explained[MODEL_MAX_TENSORS];
	double buffers_explained[MODEL_MAX_TENSORS];
	uint8_t *decisions;
	int *order;
};

/* Whether a step begins with this vector: parameters, state, buffers. */
static int is_carried(const struct side *side, int which)
{
	return which != VECTOR_GRADIENT &&
	       (which < side->program->vectors || which == VECTOR_BUFFERS);
}

/* What the backend begins a step with is what the reference does, too. */
static int begin_alike(struct pair *pair, struct error *err)
{
	for (int v = 0; v < VECTORS; v++)
		if (is_carried(&pair->tried, v) &&
		    (program_load(pair->tried.program, (enum vector)v,
				  pair->before[v], err) ||
		     program_store(pair->right.program, (enum vector)v,
				   pair->before[v], err)))
			return -1;
	return 0;
}

static struct update settings_of(const struct pair *pair,
				 const struct batch *batch)
{
	return recipe_update(&pair->task->model->recipe, pair->task->lr,
			     batch->step);
}

static double relative(double tried, double right)
{
	return fabs(tried - right) / fabs(right);
}

static double held_to(double bound, double explained)
{
	return fmax(bound, fmin(explained, MOST_EXPLAINED * bound));
}

static void compare_tensors(struct pair *pair, const float *tried,
			    const float *right, double bound,
			    struct verify_held *worst)
{
	const struct verify_task *task = pair->task;

	for (int t = 0; t < task->tensor_count; t++) {
		const struct tensor *tensor = &task->tensors[t];

		verify_hold(&worst[t],
			    verify_error(tried + tensor->offset,
					 right + tensor->offset,
					 tensor->count),
			    held_to(bound, pair->explained[t]));
	}
}

static void compare_buffers(struct pair *pair, struct verify_held *worst)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_buffers(pair->task->model, tensors);

	for (int t = 0; t < count; t++)
		verify_hold(worst,
			    verify_error(pair->tried_buffers +
						 tensors[t].offset,
					 pair->buffers + tensors[t].offset,
					 tensors[t].count),
			    held_to(pair->task->bound,
				    pair->buffers_explained[t]));
}

/* A decision as random networks have it where rounding explains more than the
 * bound of gradients. */
static double regret_bound(const struct pair *pair)
{
	const struct verify_task *task = pair->task;
	double most = 0;

	for (int t = 0; t < task->tensor_count; t++)
		verify_worsen(&most, pair->explained[t]);
	return most > task->gradient_bound ? task->gradient_bound : task->bound;
}

static void compare(struct pair *pair, const struct score *tried,
		    const struct score *right)
{
	const struct verify_task *task = pair->task;
	struct verify_errors *errors = pair->errors;

	verify_hold(&errors->loss, relative(tried->loss, right->loss),
		    task->bound);
	compare_tensors(pair, pair->tried.gradient, pair->right.gradient,
			task->gradient_bound, errors->gradients);
	compare_tensors(pair, pair->tried.parameters, pair->right.parameters,
			task->update_bound, errors->parameters);
	compare_buffers(pair, &errors->buffers);
	for (int l = 0; l < task->model->layer_count; l++)
		verify_hold(&errors->regrets[l],
			    program_regret(pair->right.program, l),
			    regret_bound(pair));
}

/* What a gradient has made of the running statistics. */
static int load_buffers(struct pair *pair, struct error *err)
{
	return program_load(pair->tried.program, VECTOR_BUFFERS,
			    pair->tried_buffers, err) ||
			       program_load(pair->right.program, VECTOR_BUFFERS,
					    pair->buffers, err) ?
		       -1 : 0;
}

/* The reference's gradient with these parameters, decisions still imposed. */
static int gradient_with(struct pair *pair, const float *parameters,
			 const struct batch *batch, struct error *err)
{
	struct program *program = pair->right.program;
	struct score ignored;

	return program_store(program, VECTOR_PARAMETERS, parameters, err) ||
			       program_store(program, VECTOR_BUFFERS,
					     pair->before[VECTOR_BUFFERS],
					     err) ||
			       program_gradient(program, batch, err) ||
			       program_finish(program, &ignored, err) ?
		       -1 : 0;
}

/* How far the last gradient is from the one compared, and its statistics. */
static int collect_moves(struct pair *pair, struct error *err)
{
	const struct verify_task *task = pair->task;
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_buffers(task->model, tensors);

	if (program_load(pair->right.program, VECTOR_GRADIENT, pair->vector,
			 err))
		return -1;
	for (int t = 0; t < task->tensor_count; t++) {
		const size_t at = task->tensors[t].offset;

		verify_worsen(&pair->explained[t], OF_NUDGES *
			      verify_error(pair->vector + at,
					   pair->right.gradient + at,
					   task->tensors[t].count));
	}
	if (program_load(pair->right.program, VECTOR_BUFFERS, pair->vector,
			 err))
		return -1;
	for (int t = 0; t < count; t++) {
		const size_t at = tensors[t].offset;

		verify_worsen(&pair->buffers_explained[t], OF_NUDGES *
			      verify_error(pair->vector + at,
					   pair->buffers + at,
					   tensors[t].count));
	}
	return 0;
}

/* A deep network with batch norm over few values amplifies rounding, whoever
 * computes: in double, too, its gradient moves when each parameter becomes the
 * float above or below it. What that explains holds for later steps, too.
 * Leaves the reference as it was. */
static int explain(struct pair *pair, const struct batch *batch,
		   struct error *err)
{
	const size_t count = model_parameter_count(pair->task->model);

	for (int i = 0; i < NUDGES; i++) {
		memcpy(pair->vector, pair->before[VECTOR_PARAMETERS],
		       count * sizeof(float));
		verify_nudge(pair->vector, count, ++pair->nudges);
		if (gradient_with(pair, pair->vector, batch, err) ||
		    collect_moves(pair, err))
			return -1;
	}
	return gradient_with(pair, pair->before[VECTOR_PARAMETERS], batch, err);
}

/* Whether a gradient or statistic is over its bound, and over what has been
 * explained so far. */
static int is_over(struct pair *pair)
{
	const struct verify_task *task = pair->task;
	struct verify_held gradients[MODEL_MAX_TENSORS] = { { 0 } };
	struct verify_held buffers = { 0 };
	int over = 0;

	if (task->precision != PRECISION_FP32 ||
	    !model_has_batchnorm(task->model))
		return 0;
	compare_buffers(pair, &buffers);
	compare_tensors(pair, pair->tried.gradient, pair->right.gradient,
			task->gradient_bound, gradients);
	for (int t = 0; t < task->tensor_count; t++)
		over |= gradients[t].error > gradients[t].bound;
	return over || buffers.error > buffers.bound;
}

static int one_step(struct pair *pair, const struct batch *batch,
		    struct error *err)
{
	const struct update settings = settings_of(pair, batch);
	struct score tried, right;

	if (begin_alike(pair, err) ||
	    side_gradient(&pair->tried, batch, &tried, err) ||
	    side_follow(&pair->right, &pair->tried, pair->decisions, err) ||
	    side_gradient(&pair->right, batch, &right, err) ||
	    load_buffers(pair, err) ||
	    (is_over(pair) && explain(pair, batch, err)) ||
	    side_update(&pair->tried, &settings, err) ||
	    side_update(&pair->right, &settings, err))
		return -1;
	compare(pair, &tried, &right);
	return 0;
}

/* The step that is done, once more and at once, as a core alone trains. */
static int same_at_once(struct pair *pair, const struct batch *batch,
			struct error *err)
{
	const struct update settings = settings_of(pair, batch);
	struct side *tried = &pair->tried;
	struct score score;

	for (int v = 0; v < VECTORS; v++)
		if (is_carried(tried, v) &&
		    program_store(tried->program, (enum vector)v,
				  pair->before[v], err))
			return -1;
	if (program_train(tried->program, batch, &settings, err) ||
	    program_finish(tried->program, &score, err) ||
	    program_load(tried->program, VECTOR_PARAMETERS, tried->parameters,
			 err))
		return -1;
	verify_hold(&pair->errors->loss,
		    relative(score.loss, pair->right.program->score.loss),
		    pair->task->bound);
	compare_tensors(pair, tried->parameters, pair->right.parameters,
			pair->task->update_bound, pair->errors->parameters);
	return 0;
}

/* Both with the reference's parameters and statistics, which are the same but
 * for rounding. */
static int evaluate(struct pair *pair, struct verify_result *result,
		    struct error *err)
{
	const int is_held = pair->tried.program->held > 0;
	struct score tried = { 0 }, right = { 0 };
	struct batch batch, own;

	verify_test_batch(pair->task, verify_tested(pair->task), &pair->share,
			  &batch);
	own = batch;
	if (is_held)
		own.images = NULL, own.labels = NULL;
	if (program_store(pair->tried.program, VECTOR_PARAMETERS,
			  pair->right.parameters, err) ||
	    program_store(pair->right.program, VECTOR_PARAMETERS,
			  pair->right.parameters, err) ||
	    program_store(pair->tried.program, VECTOR_BUFFERS, pair->buffers,
			  err) ||
	    program_evaluate(pair->tried.program, &own, &tried, err) ||
	    program_evaluate(pair->right.program, &batch, &right, err))
		return -1;
	verify_worsen(&result->test_loss, relative(tried.loss, right.loss));
	verify_worsen(&result->test_correct, tried.count != right.count ? NAN :
		      fabs((double)(tried.correct - right.correct)) /
			      (double)right.count);
	return 0;
}

/*
 * The step and the test as a run has them: the first with samples that are
 * brought, and both again with those that the program holds, if it can. A run
 * brings them, too, where a device lacks the room.
 */
static int as_measured(struct pair *pair, const struct batch *batch,
		       struct verify_result *result, struct error *err)
{
	const struct verify_task *task = pair->task;
	struct program *program = pair->tried.program;
	struct batch held = *batch;

	if (same_at_once(pair, batch, err) ||
	    evaluate(pair, result, err))
		return -1;
	if (!backend_holds(task->backend))
		return 0;
	if (loader_hold(program, task->dataset, 0, err))
		return err->kind == ERROR_MISSING ? 0 : -1;
	held.images = NULL;
	held.labels = NULL;
	return program_order(program, pair->order, err) ||
			       same_at_once(pair, &held, err) ||
			       evaluate(pair, result, err) ?
		       -1 : 0;
}

static int allocate_all(struct pair *pair)
{
	const struct verify_task *task = pair->task;
	const size_t batch = (size_t)task->batch;
	const int most = task->batch > task->test_batch ? task->batch :
							  task->test_batch;
	const size_t parameters = model_parameter_count(task->model);
	const size_t buffers = model_buffer_count(task->model);
	const size_t count = parameters > buffers ? parameters : buffers;

	pair->decisions = malloc(batch * verify_most_decisions(task->model));
	pair->vector = calloc(count, sizeof(float));
	pair->buffers = calloc(buffers + 1, sizeof(float));
	pair->tried_buffers = calloc(buffers + 1, sizeof(float));
	pair->order = malloc((size_t)task->dataset->train.count *
			     sizeof(*pair->order));
	for (int v = 0; v < VECTORS; v++)
		if (!(pair->before[v] = malloc(count * sizeof(float))))
			return -1;
	return share_allocate(&pair->share, task, most) || !pair->decisions ||
			       !pair->vector || !pair->buffers ||
			       !pair->tried_buffers || !pair->order ?
		       -1 : 0;
}

static int start(struct pair *pair, struct error *err)
{
	const struct verify_task *task = pair->task;
	const unsigned long long seed =
		(unsigned long long)task->options->seed;

	if (allocate_all(pair))
		return error_memory(err, "the batch to compare on");
	random_permutation(seed, task->dataset->train.count, pair->order);
	if (side_open(&pair->tried, task, task->backend, task->precision,
		      err) ||
	    side_open(&pair->right, task, task->right,
		      verify_right_precision(task), err))
		return -1;
	return replica_initialise(NULL, pair->tried.program, seed, err);
}

static void end(struct pair *pair)
{
	side_close(&pair->tried);
	side_close(&pair->right);
	share_release(&pair->share);
	free(pair->decisions);
	free(pair->vector);
	free(pair->buffers);
	free(pair->tried_buffers);
	free(pair->order);
	for (int v = 0; v < VECTORS; v++)
		free(pair->before[v]);
}

/* result: of the last step, in other ways as well. NULL: of none. */
static int run_pair(struct pair *pair, struct verify_result *result,
		    struct error *err)
{
	const struct verify_task *task = pair->task;
	struct batch batch;
	int failed = start(pair, err);

	for (int s = 0; !failed && s < task->steps; s++) {
		verify_batch(task, pair->order, s, 0, 1, &pair->share, &batch);
		failed = verify_check_signal(err, "before step %d of %d of %d "
					     "samples", s + 1, task->steps,
					     task->batch) ||
			 one_step(pair, &batch, err);
	}
	if (!failed && result)
		failed = as_measured(pair, &batch, result, err);
	end(pair);
	return failed ? -1 : 0;
}

int verify_lockstep(const struct verify_task *task,
		    struct verify_result *result, struct error *err)
{
	struct verify_task steps = *task;
	struct pair pair = { .task = &steps,
			     .errors = &result->errors[VERIFY_LOCKSTEP] };

	steps.test_batch = 1; /* for a backend to compile; not evaluated */
	return run_pair(&pair, NULL, err);
}

int verify_measured(const struct verify_task *task,
		    struct verify_result *result, struct error *err)
{
	struct verify_task once = *task;
	struct pair pair = { .task = &once,
			     .errors = &result->errors[VERIFY_MEASURED] };

	once.batch = task->measured_batch;
	once.steps = 1;
	return run_pair(&pair, result, err);
}
