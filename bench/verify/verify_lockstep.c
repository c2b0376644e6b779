#include "bench/verify/verify_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/parallel/replica.h"
#include "bench/data/loader.h"
#include "bench/verify/verify_network.h"
#include "bench/verify/verify_side.h"
#include "models/random.h"

#define NUDGES 8

/* Moves of the reference when each parameter becomes the float above or below
 * it: the largest of several, relative to each tensor's largest entry. */
struct moves {
	double tensors[VERIFY_KINDS][MODEL_MAX_TENSORS];
	double regrets[MODEL_MAX_LAYERS]; /* of the same decisions */
};

/* The last step of one of both. */
struct stepped {
	double loss;
	float *values[VERIFY_KINDS]; /* of the side, but for statistics */
};

struct lockstep {
	const struct verify_task *task;
	struct verify_errors *errors;
	struct side tried, right;
	struct stepped tried_left, right_left;
	struct share share;
	float *vector; /* of parameters, or of buffers */
	float *before[VECTORS]; /* a step, but the gradient */
	/* For the evaluation. */
	float *statistics, *tried_outputs, *outputs;
	double regrets[MODEL_MAX_LAYERS];
	struct moves moves; /* all 0 until something is over its bound */
	uint8_t *decisions;
	int *order;
};

/* Returns 1 if a step starts from this vector: parameters, state, buffers. */
static int is_carried(const struct side *side, int which)
{
	return which != VECTOR_GRADIENT &&
	       (which < side->program->vectors || which == VECTOR_BUFFERS);
}

/* Copies the vectors that a step starts from, from the backend to the
 * reference. */
static int begin_alike(struct lockstep *pair, struct error *err)
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

/* Restores the vectors with which the last step began. */
static int begin_again(struct lockstep *pair, struct program *program,
		       struct error *err)
{
	for (int v = 0; v < VECTORS; v++)
		if (is_carried(&pair->tried, v) &&
		    program_store(program, (enum vector)v, pair->before[v],
				  err))
			return -1;
	return 0;
}

static struct update settings_of(const struct lockstep *pair,
				 const struct batch *batch)
{
	return recipe_update(&pair->task->model->recipe, pair->task->lr,
			     batch->step);
}

/* Returns the bound of an error if the reference moves by this distance. */
static double held_to(double bound, double move)
{
	return isfinite(move) ? fmax(bound, fmin(VERIFY_OF_MOVES * move,
						 VERIFY_MOST_HELD * bound)) :
				bound;
}

static void compare_kind(const struct lockstep *pair, enum verify_kind kind,
			 struct verify_errors *errors)
{
	double found[MODEL_MAX_TENSORS];
	const int count = verify_tensor_errors(pair->task, kind,
					       pair->tried_left.values[kind],
					       pair->right_left.values[kind],
					       found);

	for (int t = 0; t < count; t++)
		verify_hold(&errors->tensors[kind][t], found[t],
			    held_to(pair->task->bounds[kind],
				    pair->moves.tensors[kind][t]));
}

static void compare_loss(const struct lockstep *pair, double tried,
			 struct verify_errors *errors)
{
	const double right = pair->right_left.loss;

	verify_hold(&errors->loss, fabs(tried - right) / fabs(right),
		    pair->task->bound);
}

/* Compares the results of the last step. */
static void compare(struct lockstep *pair, struct verify_errors *errors)
{
	const struct verify_task *task = pair->task;

	compare_loss(pair, pair->tried_left.loss, errors);
	for (int kind = 0; kind < VERIFY_KINDS; kind++)
		compare_kind(pair, (enum verify_kind)kind, errors);
	for (int l = 0; l < task->model->layer_count; l++)
		verify_hold(&errors->regrets[l], pair->regrets[l],
			    held_to(task->bound, pair->moves.regrets[l]));
}

static int is_any_over(const struct verify_held *held, int count)
{
	int over = 0;

	for (int i = 0; i < count; i++)
		over |= held[i].error > held[i].bound;
	return over;
}

/* Returns 1 if the last step exceeds its bounds and rounding may explain that:
 * only networks with batch norm amplify it that much. A factor that both sides
 * round may also become its other neighbour. */
static int is_over(struct lockstep *pair)
{
	const struct verify_task *task = pair->task;
	struct verify_errors errors = { 0 };

	if ((task->precision != PRECISION_FP32 &&
	     task->precision != PRECISION_BF16) ||
	    !model_has_batchnorm(task->model))
		return 0;
	compare(pair, &errors);
	return is_any_over(errors.tensors[0],
			   VERIFY_KINDS * MODEL_MAX_TENSORS) ||
	       is_any_over(errors.regrets, task->model->layer_count);
}

/* Compares the reference's vector with its values after the last step. */
static int move_of(struct lockstep *pair, enum verify_kind kind,
		   enum vector vector, struct error *err)
{
	double found[MODEL_MAX_TENSORS];
	int count;

	if (program_load(pair->right.program, vector, pair->vector, err))
		return -1;
	count = verify_tensor_errors(pair->task, kind, pair->vector,
				     pair->right_left.values[kind], found);
	for (int t = 0; t < count; t++)
		verify_worsen(&pair->moves.tensors[kind][t], found[t]);
	return 0;
}

/* The reference's gradient as the last step began, but for parameters that are
 * one rounding away. */
static int nudged_gradient(struct lockstep *pair, const struct batch *batch,
			   int number, struct error *err)
{
	struct program *program = pair->right.program;
	struct score ignored;

	if (begin_again(pair, program, err))
		return -1;
	memcpy(pair->vector, pair->before[VECTOR_PARAMETERS],
	       program->parameters * sizeof(float));
	verify_nudge(pair->vector, program->parameters, number);
	return program_store(program, VECTOR_PARAMETERS, pair->vector, err) ||
			       program_gradient(program, batch, err) ||
			       program_finish(program, &ignored, err) ?
		       -1 : 0;
}

/* The last step of the reference again, decisions imposed. */
static int move_once(struct lockstep *pair, const struct batch *batch,
		     int number, struct error *err)
{
	const struct update settings = settings_of(pair, batch);
	struct program *program = pair->right.program;
	struct score ignored;

	if (nudged_gradient(pair, batch, number, err) ||
	    move_of(pair, VERIFY_GRADIENTS, VECTOR_GRADIENT, err) ||
	    move_of(pair, VERIFY_STATISTICS, VECTOR_BUFFERS, err))
		return -1;
	for (int l = 0; l < pair->task->model->layer_count; l++)
		verify_worsen(&pair->moves.regrets[l],
			      fabs(program_regret(program, l) -
				   pair->regrets[l]));
	return program_update(program, &settings, err) ||
			       program_finish(program, &ignored, err) ||
			       move_of(pair, VERIFY_PARAMETERS,
				       VECTOR_PARAMETERS, err) ?
		       -1 : 0;
}

/* A deep network with batch norm over few values amplifies rounding, also in
 * double. Nudges the reference's parameters until its moves explain the step.
 * Later steps have the same bounds, until one exceeds them and is explained by
 * itself. The reference's final state does not matter: the next step copies the
 * backend's. */
static int explain(struct lockstep *pair, const struct batch *batch,
		   struct error *err)
{
	memset(&pair->moves, 0, sizeof(pair->moves));
	for (int i = 1; i <= NUDGES && is_over(pair); i++)
		if (move_once(pair, batch, i, err))
			return -1;
	return 0;
}

static int one_step(struct lockstep *pair, const struct batch *batch,
		    struct error *err)
{
	const struct update settings = settings_of(pair, batch);
	struct score tried, right;

	if (begin_alike(pair, err) ||
	    side_gradient(&pair->tried, batch, &tried, err) ||
	    side_follow(&pair->right, &pair->tried, pair->decisions, err) ||
	    side_gradient(&pair->right, batch, &right, err) ||
	    program_load(pair->tried.program, VECTOR_BUFFERS,
			 pair->tried_left.values[VERIFY_STATISTICS], err) ||
	    program_load(pair->right.program, VECTOR_BUFFERS,
			 pair->right_left.values[VERIFY_STATISTICS], err))
		return -1;
	pair->tried_left.loss = tried.loss;
	pair->right_left.loss = right.loss;
	for (int l = 0; l < pair->task->model->layer_count; l++)
		pair->regrets[l] = program_regret(pair->right.program, l);
	if (side_update(&pair->tried, &settings, err) ||
	    side_update(&pair->right, &settings, err) ||
	    (is_over(pair) && explain(pair, batch, err)))
		return -1;
	compare(pair, pair->errors);
	return 0;
}

/* Repeats the last step in one call, as a single core trains. The batch is
 * uploaded, or if its images are NULL, on the device. */
static int same_at_once(struct lockstep *pair, const struct batch *batch,
			const struct batch *brought, struct error *err)
{
	const struct update settings = settings_of(pair, batch);
	struct side *tried = &pair->tried;
	struct score score;

	if (begin_again(pair, tried->program, err) ||
	    program_train(tried->program, batch, &settings, err) ||
	    program_finish(tried->program, &score, err) ||
	    program_load(tried->program, VECTOR_PARAMETERS, tried->parameters,
			 err) ||
	    (is_over(pair) && explain(pair, brought, err)))
		return -1;
	compare_loss(pair, score.loss, pair->errors);
	compare_kind(pair, VERIFY_PARAMETERS, pair->errors);
	return 0;
}

/* Stores equal values on both sides: the reference's parameters, and statistics
 * unlike an untrained network's. */
static int store_alike(struct lockstep *pair, struct error *err)
{
	const float *parameters = pair->right.parameters;
	struct program *const programs[] = { pair->tried.program,
					     pair->right.program };

	verify_draw_statistics(pair->task->model, pair->task->options->seed,
			       parameters, pair->statistics);
	for (int p = 0; p < 2; p++)
		if (program_store(programs[p], VECTOR_PARAMETERS, parameters,
				  err) ||
		    program_store(programs[p], VECTOR_BUFFERS,
				  pair->statistics, err))
			return -1;
	return 0;
}

static int evaluate(struct lockstep *pair, struct verify_result *result,
		    struct error *err)
{
	const int is_resident = pair->tried.program->resident_samples > 0;
	const int count = verify_tested(pair->task);
	const size_t outputs = (size_t)count *
			       (size_t)model_classes(pair->task->model);
	struct score tried = { 0 }, right = { 0 };
	struct batch batch, own;

	verify_test_batch(pair->task, 0, count, &pair->share, &batch);
	batch.outputs = pair->outputs;
	own = batch;
	own.outputs = pair->tried_outputs;
	for (size_t i = 0; i < outputs; i++)
		own.outputs[i] = NAN; /* what is not written is wrong */
	if (is_resident)
		own.images = NULL, own.labels = NULL;
	if (store_alike(pair, err) ||
	    program_evaluate(pair->tried.program, &own, &tried, err) ||
	    program_evaluate(pair->right.program, &batch, &right, err))
		return -1;
	verify_hold(&result->test_outputs,
		    verify_error(own.outputs, batch.outputs, outputs),
		    pair->task->bound);
	verify_hold(&result->test_loss, verify_loss_error(&tried, &right),
		    pair->task->bound);
	verify_hold_answers(&result->test_correct, pair->task, &tried, &right);
	return 0;
}

/*
 * Repeats the step and the evaluation as in a run, with samples that are
 * uploaded. If the backend supports it, repeats them with samples on the
 * device. A run uploads samples if the device has no room.
 */
static int as_measured(struct lockstep *pair, const struct batch *batch,
		       struct verify_result *result, struct error *err)
{
	const struct verify_task *task = pair->task;
	struct program *program = pair->tried.program;
	struct batch resident = *batch;

	if (same_at_once(pair, batch, batch, err) ||
	    evaluate(pair, result, err))
		return -1;
	if (!backend_uploads_data(task->backend))
		return 0;
	if (loader_upload(program, task->dataset, 0, err))
		return err->kind == ERROR_MISSING ? 0 : -1;
	resident.images = NULL;
	resident.labels = NULL;
	return program_order(program, pair->order, err) ||
			       same_at_once(pair, &resident, batch, err) ||
			       evaluate(pair, result, err) ?
		       -1 : 0;
}

static float *floats(size_t count)
{
	return calloc(count + 1, sizeof(float));
}

static int allocate_all(struct lockstep *pair)
{
	const struct verify_task *task = pair->task;
	const int most = task->batch > task->test_batch ? task->batch :
							  task->test_batch;
	const size_t parameters = model_parameter_count(task->model);
	const size_t buffers = model_buffer_count(task->model);
	const size_t count = parameters > buffers ? parameters : buffers;
	const size_t outputs = (size_t)most *
			       (size_t)model_classes(task->model);
	float **const rooms[] = {
		&pair->vector, &pair->statistics,
		&pair->tried_left.values[VERIFY_STATISTICS],
		&pair->right_left.values[VERIFY_STATISTICS],
	};

	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++)
		if (!(*rooms[i] = floats(i ? buffers : count)))
			return -1;
	for (int v = 0; v < VECTORS; v++)
		if (!(pair->before[v] = malloc(count * sizeof(float))))
			return -1;
	pair->decisions = malloc((size_t)task->batch *
				 verify_most_decisions(task->model));
	pair->tried_outputs = floats(outputs);
	pair->outputs = floats(outputs);
	pair->order = malloc((size_t)task->dataset->train.count *
			     sizeof(*pair->order));
	return share_allocate(&pair->share, task, most) || !pair->decisions ||
			       !pair->tried_outputs || !pair->outputs ||
			       !pair->order ?
		       -1 : 0;
}

static void begin_left(struct stepped *left, const struct side *side)
{
	left->values[VERIFY_GRADIENTS] = side->gradient;
	left->values[VERIFY_PARAMETERS] = side->parameters;
}

static int start(struct lockstep *pair, struct error *err)
{
	const struct verify_task *task = pair->task;
	const unsigned long long seed =
		(unsigned long long)task->options->seed;

	if (allocate_all(pair))
		return error_memory(err, "the batch to compare on");
	random_permutation(seed, task->dataset->train.count, pair->order);
	if (side_open_steps(&pair->tried, task, task->backend, task->precision,
			    err) ||
	    side_open_steps(&pair->right, task, task->right,
			    verify_right_precision(task), err) ||
	    program_round_factors(pair->right.program,
				  pair->tried.program->rounds, err))
		return -1;
	begin_left(&pair->tried_left, &pair->tried);
	begin_left(&pair->right_left, &pair->right);
	return replica_initialise(NULL, pair->tried.program, seed, err);
}

static void end(struct lockstep *pair)
{
	side_close(&pair->tried);
	side_close(&pair->right);
	share_release(&pair->share);
	free(pair->decisions);
	free(pair->vector);
	free(pair->tried_left.values[VERIFY_STATISTICS]);
	free(pair->right_left.values[VERIFY_STATISTICS]);
	free(pair->statistics);
	free(pair->tried_outputs);
	free(pair->outputs);
	free(pair->order);
	for (int v = 0; v < VECTORS; v++)
		free(pair->before[v]);
}

/* result: of the last step, in other ways as well. NULL: of none. */
static int run_pair(struct lockstep *pair, struct verify_result *result,
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

int verify_steps(const struct verify_task *task, struct verify_result *result,
		 struct error *err)
{
	struct verify_task few = *task, measured = *task;
	struct lockstep pair = { .task = &few,
				 .errors = &result->errors[VERIFY_LOCKSTEP] };

	few.test_batch = 1; /* for a backend to compile; not evaluated */
	if (run_pair(&pair, NULL, err))
		return -1;
	measured.batch = task->measured_batch;
	measured.steps = 1;
	pair = (struct lockstep){ .task = &measured,
				  .errors = &result->errors[VERIFY_MEASURED] };
	return run_pair(&pair, result, err);
}
