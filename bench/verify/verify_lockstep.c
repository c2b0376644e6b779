#include "bench/verify/verify_lockstep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/group/replica.h"
#include "bench/run/loader.h"
#include "bench/verify/verify_side.h"
#include "models/random.h"

struct pair {
	const struct verify_task *task;
	struct verify_errors *errors;
	struct side tried, right;
	struct share share;
	float *vector, *buffers;
	float *before[VECTORS]; /* a step, but the gradient */
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

static void compare_tensors(const struct verify_task *task, const float *tried,
			    const float *right, double *worst)
{
	for (int t = 0; t < task->tensor_count; t++) {
		const struct tensor *tensor = &task->tensors[t];

		verify_worsen(&worst[t], verify_error(tried + tensor->offset,
						      right + tensor->offset,
						      tensor->count));
	}
}

static void compare(struct pair *pair, const struct score *tried,
		    const struct score *right)
{
	const struct verify_task *task = pair->task;
	struct verify_errors *errors = pair->errors;

	verify_worsen(&errors->loss, relative(tried->loss, right->loss));
	compare_tensors(task, pair->tried.gradient, pair->right.gradient,
			errors->gradients);
	compare_tensors(task, pair->tried.parameters, pair->right.parameters,
			errors->parameters);
	for (int l = 0; l < task->model->layer_count; l++)
		verify_worsen(&errors->regrets[l],
			      program_regret(pair->right.program, l));
}

/* What a gradient has made of the running statistics. */
static int compare_buffers(struct pair *pair, struct error *err)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_buffers(pair->task->model, tensors);

	if (program_load(pair->tried.program, VECTOR_BUFFERS, pair->vector,
			 err) ||
	    program_load(pair->right.program, VECTOR_BUFFERS, pair->buffers,
			 err))
		return -1;
	for (int t = 0; t < count; t++)
		verify_worsen(&pair->errors->buffers,
			      verify_error(pair->vector + tensors[t].offset,
					   pair->buffers + tensors[t].offset,
					   tensors[t].count));
	return 0;
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
	    side_update(&pair->tried, &settings, err) ||
	    side_update(&pair->right, &settings, err) ||
	    compare_buffers(pair, err))
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
	verify_worsen(&pair->errors->loss,
		      relative(score.loss, pair->right.program->score.loss));
	compare_tensors(pair->task, tried->parameters, pair->right.parameters,
			pair->errors->parameters);
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
	pair->order = malloc((size_t)task->dataset->train.count *
			     sizeof(*pair->order));
	for (int v = 0; v < VECTORS; v++)
		if (!(pair->before[v] = malloc(count * sizeof(float))))
			return -1;
	return share_allocate(&pair->share, task, most) || !pair->decisions ||
			       !pair->vector || !pair->buffers || !pair->order ?
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
