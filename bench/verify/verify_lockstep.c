#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/replica.h"
#include "bench/verify/verify_parts.h"
#include "models/random.h"

struct side {
	struct device *device;
	struct program *program;
	float *gradient, *parameters;
};

struct pair {
	const struct verify_task *task;
	struct verify_result *result;
	struct side tried, right;
	float *images, *vector;
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

void verify_batch(const struct verify_task *task, const int *order, int step,
		  int rank, int size, float *images, uint8_t *labels,
		  struct batch *batch)
{
	const struct dataset *dataset = task->dataset;
	const size_t each = shape_size(dataset->shape);
	int n = 0;

	for (int p = rank; p < task->batch; p += size, n++) {
		const int at = (step * task->batch + p) % dataset->train.count;
		const uint8_t *from = dataset->train.images +
				      (size_t)order[at] * each;

		for (size_t i = 0; i < each; i++)
			images[(size_t)n * each + i] =
				((float)from[i] / 255 - dataset->mean) /
				dataset->std;
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
		.test_batch = 1,
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

static int copy_vector(struct pair *pair, enum vector which, struct error *err)
{
	return program_load(pair->tried.program, which, pair->vector, err) ||
			       program_store(pair->right.program, which,
					     pair->vector, err) ?
		       -1 : 0;
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

static void compare(struct pair *pair, const struct score *tried,
		    const struct score *right)
{
	const struct verify_task *task = pair->task;
	struct verify_result *result = pair->result;

	verify_worsen(&result->loss,
		      fabs(tried->loss - right->loss) / fabs(right->loss));
	for (int t = 0; t < task->tensor_count; t++) {
		const struct tensor *tensor = &task->tensors[t];

		verify_worsen(&result->gradients[t],
			      verify_error(
				      pair->tried.gradient + tensor->offset,
				      pair->right.gradient + tensor->offset,
				      tensor->count));
		verify_worsen(&result->parameters[t],
			      verify_error(
				      pair->tried.parameters + tensor->offset,
				      pair->right.parameters + tensor->offset,
				      tensor->count));
	}
	for (int l = 0; l < task->model->layer_count; l++)
		verify_worsen(&result->regrets[l],
			      program_regret(pair->right.program, l));
}

static int one_step(struct pair *pair, int step, struct error *err)
{
	const struct verify_task *task = pair->task;
	const struct recipe *recipe = &task->model->recipe;
	const struct update settings = { task->lr, recipe->rho, recipe->eps };
	struct score tried, right;
	struct batch batch;

	verify_batch(task, pair->order, step, 0, 1, pair->images, pair->labels,
		     &batch);
	if (copy_vector(pair, VECTOR_PARAMETERS, err) ||
	    copy_vector(pair, VECTOR_SQUARE_AVG, err) ||
	    copy_vector(pair, VECTOR_ACC_DELTA, err) ||
	    gradient(&pair->tried, &batch, &tried, err) ||
	    copy_decisions(pair, err) ||
	    gradient(&pair->right, &batch, &right, err) ||
	    update(&pair->tried, &settings, err) ||
	    update(&pair->right, &settings, err))
		return -1;
	compare(pair, &tried, &right);
	return 0;
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

	pair->images = malloc(batch * shape_size(task->model->input) *
			      sizeof(float));
	pair->labels = malloc(batch);
	pair->decisions = malloc(batch * verify_most_decisions(task->model));
	pair->vector = calloc(model_parameter_count(task->model),
			      sizeof(float));
	pair->order = malloc((size_t)task->dataset->train.count *
			     sizeof(*pair->order));
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

int verify_lockstep(const struct verify_task *task,
		    struct verify_result *result, struct error *err)
{
	struct pair pair = { .task = task, .result = result };
	int failed = start(&pair, err);

	for (int s = 0; !failed && s < task->steps; s++)
		failed = one_step(&pair, s, err);
	close_side(&pair.tried);
	close_side(&pair.right);
	free(pair.images);
	free(pair.labels);
	free(pair.decisions);
	free(pair.vector);
	free(pair.order);
	return failed ? -1 : 0;
}
