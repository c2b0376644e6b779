#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/replica.h"
#include "bench/data/loader.h"
#include "bench/verify/verify_parts.h"
#include "models/random.h"

struct side {
	struct device *device;
	struct program *program;
	float *gradient, *parameters;
};

struct pair {
	const struct verify_task *task;
	struct verify_errors *errors;
	struct side tried, right;
	float *images, *vector;
	float *before[VECTOR_COUNT]; /* a step, but the gradient */
	uint8_t *labels, *decisions;
	int *order;
};

double verify_error(const float *a, const float *b, size_t count)
{
	double most = 0, scale = 0;

	for (size_t i = 0; i < count; i++) {
		double difference = fabs((double)a[i] - (double)b[i]);

		if (!isfinite(difference))
			return NAN;
		most = fmax(most, difference);
		scale = fmax(scale, fabs((double)b[i]));
	}
	return scale > 0 ? most / scale : most;
}

void verify_worsen(double *worst, double error)
{
	if (isnan(error) || error > *worst)
		*worst = error;
}

/* One image, as a loader hands it on. */
static void normalise(const struct dataset *dataset, const uint8_t *pixels,
		      float *image)
{
	const size_t each = shape_size(dataset->shape);

	for (size_t i = 0; i < each; i++)
		image[i] = ((float)pixels[i] / 255 - dataset->mean) /
			   dataset->std;
}

void verify_batch(const struct verify_task *task, const int *order, int step,
		  int rank, int size, float *images, uint8_t *labels,
		  struct batch *batch)
{
	const struct dataset *dataset = task->dataset;
	const size_t each = shape_size(dataset->shape);
	int n = 0;

	for (int p = rank; p < task->batch; p += size, n++) {
		const int at = (step * task->batch + p) % dataset->train.count;

		normalise(dataset,
			  dataset->train.images + (size_t)order[at] * each,
			  images + (size_t)n * each);
		labels[n] = dataset->train.labels[order[at]];
	}
	*batch = (struct batch){ .images = images,
				 .labels = labels,
				 .count = n,
				 .global_count = task->batch,
				 .step = (uint32_t)step,
				 .place = rank,
				 .stride = size };
}

static int open_side(struct side *side, const struct verify_task *task,
		     const struct backend *backend, struct error *err)
{
	const struct device_request request = {
		.choice = backend == task->backend ? task->device : NULL,
		.threads = 1,
		.cpus = 1,
		.device_class = task->options->device_class,
	};
	const struct program_options options = {
		.batch = task->batch,
		.test_batch = task->test_batch,
		.seed = (unsigned long long)task->options->seed,
		.dropout = task->options->dropout,
		.algorithm = backend == task->backend ? task->algorithm :
							ALGORITHM_DENSE,
		.precision = backend == task->backend ? task->precision :
							PRECISION_FP32,
	};
	const size_t count = model_parameter_count(task->model);

	side->gradient = malloc(count * sizeof(float));
	side->parameters = malloc(count * sizeof(float));
	if (!side->gradient || !side->parameters)
		return error_memory(err, "the tensors to compare");
	if (device_open(backend, &request, &side->device, err))
		return -1;
	return program_compile(side->device, task->model, &options,
			       &side->program, err);
}

static void close_side(struct side *side)
{
	program_free(side->program);
	device_close(side->device);
	free(side->gradient);
	free(side->parameters);
}

static const enum vector carried[] = { VECTOR_PARAMETERS, VECTOR_SQUARE_AVG,
				       VECTOR_ACC_DELTA };

#define CARRIED (sizeof(carried) / sizeof(carried[0]))

/* What the backend begins a step with is what the reference does, too. */
static int begin_alike(struct pair *pair, struct error *err)
{
	for (size_t c = 0; c < CARRIED; c++)
		if (program_load(pair->tried.program, carried[c],
				 pair->before[carried[c]], err) ||
		    program_store(pair->right.program, carried[c],
				  pair->before[carried[c]], err))
			return -1;
	return 0;
}

/* The reference follows what the backend decided, dropout included. */
static int copy_decisions(struct pair *pair, struct error *err)
{
	const struct model *model = pair->task->model;

	for (int l = 0; l < model->layer_count; l++) {
		if (!layer_decisions(&model->layers[l],
				     model_layer_input(model, l)))
			continue;
		if (program_decisions(pair->tried.program, l, pair->decisions,
				      err) ||
		    program_impose(pair->right.program, l, pair->decisions,
				   err))
			return -1;
	}
	return 0;
}

static int gradient(struct side *side, const struct batch *batch,
		    struct score *score, struct error *err)
{
	return program_gradient(side->program, batch, err) ||
			       program_finish(side->program, score, err) ||
			       program_load(side->program, VECTOR_GRADIENT,
					    side->gradient, err) ?
		       -1 : 0;
}

static int update(struct side *side, const struct update *update,
		  struct error *err)
{
	struct score ignored;

	return program_update(side->program, update, err) ||
			       program_finish(side->program, &ignored, err) ||
			       program_load(side->program, VECTOR_PARAMETERS,
					    side->parameters, err) ?
		       -1 : 0;
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

static int one_step(struct pair *pair, const struct update *settings,
		    const struct batch *batch, struct error *err)
{
	struct score tried, right;

	if (begin_alike(pair, err) ||
	    gradient(&pair->tried, batch, &tried, err) ||
	    copy_decisions(pair, err) ||
	    gradient(&pair->right, batch, &right, err) ||
	    update(&pair->tried, settings, err) ||
	    update(&pair->right, settings, err))
		return -1;
	compare(pair, &tried, &right);
	return 0;
}

/* The step that is done, once more and at once, as a core alone trains. */
static int same_at_once(struct pair *pair, const struct update *settings,
			const struct batch *batch, struct error *err)
{
	struct side *tried = &pair->tried;
	struct score score;

	for (size_t c = 0; c < CARRIED; c++)
		if (program_store(tried->program, carried[c],
				  pair->before[carried[c]], err))
			return -1;
	if (program_train(tried->program, batch, settings, err) ||
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

int verify_tested(const struct verify_task *task)
{
	const int most = task->dataset->test.count;

	return task->test_batch < most ? task->test_batch : most;
}

/* Both with the reference's parameters, which are the same but for rounding. */
static int evaluate(struct pair *pair, struct verify_result *result,
		    struct error *err)
{
	const int is_held = pair->tried.program->held > 0;
	const struct dataset *dataset = pair->task->dataset;
	const size_t each = shape_size(dataset->shape);
	const int count = verify_tested(pair->task);
	const struct batch batch = { .images = pair->images,
				     .labels = dataset->test.labels,
				     .count = count,
				     .global_count = count,
				     .stride = 1 };
	struct batch own = batch;
	struct score tried = { 0 }, right = { 0 };

	if (is_held)
		own.images = NULL, own.labels = NULL;
	for (int i = 0; i < count; i++)
		normalise(dataset, dataset->test.images + (size_t)i * each,
			  pair->images + (size_t)i * each);
	if (program_store(pair->tried.program, VECTOR_PARAMETERS,
			  pair->right.parameters, err) ||
	    program_store(pair->right.program, VECTOR_PARAMETERS,
			  pair->right.parameters, err) ||
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
static int as_measured(struct pair *pair, const struct update *settings,
		       const struct batch *batch, struct verify_result *result,
		       struct error *err)
{
	const struct verify_task *task = pair->task;
	struct program *program = pair->tried.program;
	struct batch held = *batch;

	if (same_at_once(pair, settings, batch, err) ||
	    evaluate(pair, result, err))
		return -1;
	if (!backend_holds(task->backend))
		return 0;
	if (loader_hold(program, task->dataset, err))
		return err->kind == ERROR_MISSING ? 0 : -1;
	held.images = NULL;
	held.labels = NULL;
	return program_order(program, pair->order, err) ||
			       same_at_once(pair, settings, &held, err) ||
			       evaluate(pair, result, err) ?
		       -1 : 0;
}

size_t verify_most_decisions(const struct model *model)
{
	size_t most = 1;

	for (int l = 0; l < model->layer_count; l++) {
		size_t count = layer_decisions(&model->layers[l],
					       model_layer_input(model, l));

		most = count > most ? count : most;
	}
	return most;
}

static int allocate_all(struct pair *pair)
{
	const struct verify_task *task = pair->task;
	const size_t batch = (size_t)task->batch;
	const size_t most = (size_t)(task->batch > task->test_batch ?
					     task->batch : task->test_batch);
	const size_t count = model_parameter_count(task->model);

	pair->images = malloc(most * shape_size(task->model->input) *
			      sizeof(float));
	pair->labels = malloc(batch);
	pair->decisions = malloc(batch * verify_most_decisions(task->model));
	pair->vector = calloc(count, sizeof(float));
	pair->order = malloc((size_t)task->dataset->train.count *
			     sizeof(*pair->order));
	for (size_t c = 0; c < CARRIED; c++)
		if (!(pair->before[carried[c]] = malloc(count * sizeof(float))))
			return -1;
	return pair->images && pair->labels && pair->decisions &&
			       pair->vector && pair->order ?
		       0 : -1;
}

static int start(struct pair *pair, struct error *err)
{
	const struct verify_task *task = pair->task;
	const unsigned long long seed =
		(unsigned long long)task->options->seed;

	if (allocate_all(pair))
		return error_memory(err, "the batch to compare on");
	random_permutation(seed, task->dataset->train.count, pair->order);
	if (open_side(&pair->tried, task, task->backend, err) ||
	    open_side(&pair->right, task, backend_find("reference"), err) ||
	    program_store(pair->tried.program, VECTOR_SQUARE_AVG, pair->vector,
			  err) ||
	    program_store(pair->tried.program, VECTOR_ACC_DELTA, pair->vector,
			  err))
		return -1;
	model_init(task->model, seed, pair->vector);
	return program_store(pair->tried.program, VECTOR_PARAMETERS,
			     pair->vector, err);
}

static void end(struct pair *pair)
{
	close_side(&pair->tried);
	close_side(&pair->right);
	free(pair->images);
	free(pair->labels);
	free(pair->decisions);
	free(pair->vector);
	free(pair->order);
	for (int v = 0; v < VECTOR_COUNT; v++)
		free(pair->before[v]);
}

/* result: of the last step, in other ways as well. NULL: of none. */
static int run_pair(struct pair *pair, struct verify_result *result,
		    struct error *err)
{
	const struct verify_task *task = pair->task;
	const struct recipe *recipe = &task->model->recipe;
	const struct update settings = { task->lr, recipe->rho, recipe->eps };
	struct batch batch;
	int failed = start(pair, err);

	for (int s = 0; !failed && s < task->steps; s++) {
		verify_batch(task, pair->order, s, 0, 1, pair->images,
			     pair->labels, &batch);
		failed = one_step(pair, &settings, &batch, err);
	}
	if (!failed && result)
		failed = as_measured(pair, &settings, &batch, result, err);
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
